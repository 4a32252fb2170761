package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/unplug-go/unplug/scenarios/report"
)

// run is the whole program but for the process around it: it gives the exit code.
func run(ctx context.Context, args []string, h *host) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(h.stderr, "unplug: internal error: %v\nThis is a mistake in unplug, not in a journal. Please report it with these lines.\n%s", p, debug.Stack())
			code = exitInternal
		}
	}()
	a := &app{host: h}
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	code = codeOf(err)
	var e *exitError
	if err != nil && (!errors.As(err, &e) || e.cause != nil) {
		fmt.Fprintf(h.stderr, "unplug: %s\n", oneLine(err.Error()))
	}
	return code
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// app is one run of the program: its world and the flags that every command has.
type app struct {
	*host
	color    string
	progress string
	quiet    bool
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "unplug",
		Short: "Pull the plug on a journal and check what comes back",
		Long: `unplug pulls the plug on an append-only journal at every moment that matters, under every
persistence model that a disk may follow, runs the journal's own recovery on what is left,
and checks that every promise was kept. It also examines journal files after a real crash.`,
		Example: `  unplug torture reference                    torture the reference journal
  unplug torture reference --bug lost-fsync   see what a failure looks like
  unplug replay unplug-out/up201-….unplug     rerun a failure that was saved
  unplug inspect session.jsonl                what is in this file, and is it whole?`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		Args:              a.noCommand,
		RunE:              func(cmd *cobra.Command, _ []string) error { return internal(cmd.Help()) },
		PersistentPreRunE: func(*cobra.Command, []string) error { return a.check() },
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetIn(a.stdin)
	root.SetFlagErrorFunc(flagError)
	f := root.PersistentFlags()
	f.StringVar(&a.color, "color", "auto", "colour: auto, always or never (NO_COLOR and TERM=dumb count as never in auto)")
	f.StringVar(&a.progress, "progress", "auto", "progress on stderr: auto (one redrawn line on a terminal, else a line every 30 s), plain or none")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "no progress, and only findings and the verdict")
	root.AddCommand(a.torture(), a.replay(), a.shrink(), a.explain(), a.verify(), a.inspect(), a.version(), a.completion())
	root.SetHelpCommand(a.help())
	return root
}

// noCommand refuses words that are no command.
func (a *app) noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return fmt.Errorf("unknown command %q: want one of %s", args[0], strings.Join(names, ", "))
}

// check holds the flags that every command has.
func (a *app) check() error {
	if err := oneOf("--color", a.color, "auto", "always", "never"); err != nil {
		return err
	}
	return oneOf("--progress", a.progress, "auto", "plain", "none")
}

// oneOf holds that a flag's value is one of those that it may have.
func oneOf(flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("%s %q: want one of %s", flag, value, strings.Join(allowed, ", "))
}

// flagError says which flags there are when one is unknown.
func flagError(cmd *cobra.Command, err error) error {
	if _, ok := errors.AsType[*pflag.NotExistError](err); !ok {
		return fmt.Errorf("%w (see unplug %s --help)", err, cmd.Name())
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return fmt.Errorf("%w: want one of %s", err, strings.Join(names, ", "))
}

// help is cobra's own, but for a topic that does not exist, which is an error here.
func (a *app) help() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Print the help of a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, _, err := cmd.Root().Find(args)
			if err != nil || topic == cmd.Root() {
				if err := a.noCommand(cmd.Root(), args); err != nil {
					return err
				}
			}
			return internal(topic.Help())
		},
	}
}

// text is how to lay out what goes to stdout.
func (a *app) text() report.Text {
	width, tty := terminal(a.stdout)
	t := report.Text{Quiet: a.quiet, Color: a.color == "always"}
	if a.color == "auto" {
		t.Color = tty && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb"
	}
	if tty {
		t.Width = min(width, 110)
	}
	return t
}
