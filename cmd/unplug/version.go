package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/unplug-go/unplug/scenarios/report"
)

// versionInfo is what version --json prints.
type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Schema   string `json:"schema"` // of torture --json
	Repro    int    `json:"repro"`  // the newest version of repro files that it reads
}

func (a *app) version() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  unplug version --json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			v := thisVersion()
			if asJSON {
				return internal(json.NewEncoder(a.stdout).Encode(v))
			}
			text := "unplug " + v.Version
			if v.Revision != "" {
				text += " " + v.Revision[:min(12, len(v.Revision))]
			}
			if v.Modified {
				text += " (modified)"
			}
			_, err := fmt.Fprintf(a.stdout, "%s, %s, %s; reads repro files up to v%d\n", text, v.Go, v.Platform, v.Repro)
			return internal(err)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}

func thisVersion() versionInfo {
	v := versionInfo{
		Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Schema: report.Schema, Repro: report.ReproVersion,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, got %q", cmd.Name(), args)
	}
	return nil
}

func (a *app) completion() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print a completion script for a shell",
		Example: `  source <(unplug completion bash)
  unplug completion zsh > "${fpath[1]}/_unplug"
  unplug completion fish > ~/.config/fish/completions/unplug.fish`,
		ValidArgs: shells,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("completion: want one shell: bash, zsh, fish or powershell")
			}
			return oneOf("completion", args[0], shells...)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return internal(root.GenBashCompletionV2(a.stdout, true))
			case "zsh":
				return internal(root.GenZshCompletion(a.stdout))
			case "fish":
				return internal(root.GenFishCompletion(a.stdout, true))
			default:
				return internal(root.GenPowerShellCompletionWithDesc(a.stdout))
			}
		},
	}
}
