package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/unplug-go/unplug/journal"
)

// examineFlags are the flags that verify and inspect share.
type examineFlags struct {
	contract               string
	json, allowTail, lines bool
	showContent            bool
	maxLine                int
}

func (f *examineFlags) define(flags *pflag.FlagSet) {
	flags.StringVar(&f.contract, "contract", "strict", "how to read a bad line that nothing vouches for: strict refuses it, watermark reads it as a tail")
	flags.BoolVar(&f.json, "json", false, "print one JSON object a file")
	flags.BoolVar(&f.allowTail, "allow-tail", false, "exit 0 where nothing but a partial tail is wrong")
	flags.BoolVar(&f.showContent, "show-content", false, "show how lines begin; without it no content is printed")
	flags.IntVar(&f.maxLine, "max-line", journal.DefaultMaxLine, "the longest line to read, in bytes")
}

func (f *examineFlags) check() error {
	if f.maxLine < 1 {
		return fmt.Errorf("--max-line %d: want at least 1", f.maxLine)
	}
	return oneOf("--contract", f.contract, "strict", "watermark")
}

func (a *app) verify() *cobra.Command {
	var f examineFlags
	cmd := &cobra.Command{
		Use:   "verify FILE…",
		Short: "Check journal files; quiet but for what is wrong",
		Long: `verify reads journal files and never writes. It prints a line for each thing that is wrong,
nothing for a clean file, and says the rest by its exit code: 0 clean, 1 damaged, 3 nothing
worse than a partial tail, 4 a version that it does not know. Of several files the worst
counts: 1 before 4 before 3. "-" is stdin.`,
		Example: `  unplug verify session.jsonl
  unplug verify --allow-tail *.jsonl
  find ~/sessions -name '*.jsonl' -exec unplug verify --json {} +
  cat session.jsonl | unplug verify -`,
		Args: someFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			return unlessInterrupted(cmd.Context(), func() error { return a.examineAll(args, &f, "unplug.verify/v1", a.verifyText) })
		},
	}
	f.define(cmd.Flags())
	return cmd
}

func (a *app) inspect() *cobra.Command {
	var f examineFlags
	cmd := &cobra.Command{
		Use:   "inspect FILE…",
		Short: "Say what is in a journal file, and whether it is whole",
		Long: `inspect reads a journal file and never writes. It says what the file holds, up to where it can
be trusted, what is wrong with it and where, and what to do next. What the lines say is not
shown unless --show-content asks for it. "-" is stdin.`,
		Example: `  unplug inspect session.jsonl
  unplug inspect --lines session.jsonl
  unplug inspect --contract watermark --show-content session.jsonl`,
		Args: someFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			return unlessInterrupted(cmd.Context(), func() error { return a.examineAll(args, &f, "unplug.inspect/v1", a.inspectText) })
		},
	}
	f.define(cmd.Flags())
	cmd.Flags().BoolVar(&f.lines, "lines", false, "list every event: line's offset, length, sequence and type")
	return cmd
}

func someFiles(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s: no file: want at least one, or - for stdin", cmd.Name())
	}
	return nil
}

// examineAll examines files and gives the worst exit code of them.
func (a *app) examineAll(names []string, f *examineFlags, schema string, text func(*examined, *examineFlags) error) error {
	if err := f.check(); err != nil {
		return err
	}
	code := exitClean
	for _, name := range names {
		x, err := a.examine(name, f)
		if err != nil {
			fmt.Fprintf(a.stderr, "unplug: %s\n", oneLine(err.Error()))
			code = worse(code, codeOf(err))
			continue
		}
		code = worse(code, x.code)
		if f.json {
			x.Schema = schema
			enc := json.NewEncoder(a.stdout)
			enc.SetEscapeHTML(false)
			err = enc.Encode(x)
		} else {
			err = text(x, f)
		}
		if err != nil {
			return internal(err)
		}
	}
	return done(code)
}

// verifyText prints a line for each finding.
func (a *app) verifyText(x *examined, _ *examineFlags) error {
	if a.quiet {
		return nil
	}
	for _, f := range x.Findings {
		_, err := fmt.Fprintf(a.stdout, "%s:%d: byte %d: %s %s: %s\n", f.Path, f.Line, f.Offset, f.ID, f.Name, f.Text)
		if err != nil {
			return err
		}
		if f.Content != "" {
			if _, err := fmt.Fprintf(a.stdout, "  %s\n", strconv.Quote(f.Content)); err != nil {
				return err
			}
		}
	}
	return nil
}

// count is a number with commas.
func count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// kinds are the types of the events, the most frequent first.
func (x *examined) kinds() string {
	type kind struct {
		name string
		n    int
	}
	var all []kind
	for name, n := range x.Types {
		all = append(all, kind{name, n})
	}
	slices.SortFunc(all, func(a, b kind) int {
		if a.n != b.n {
			return b.n - a.n
		}
		return strings.Compare(a.name, b.name)
	})
	var parts []string
	for _, k := range all {
		parts = append(parts, k.name+" "+count(int64(k.n)))
	}
	return strings.Join(parts, " · ")
}

// unlessInterrupted runs work, and does not wait for it when the program is interrupted: it
// only reads.
func unlessInterrupted(ctx context.Context, work func() error) error {
	result := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				result <- internal(fmt.Errorf("%v", p))
			}
		}()
		result <- work()
	}()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return done(exitInterrupted)
	}
}
