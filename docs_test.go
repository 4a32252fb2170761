package unplug_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs/crash"
	"github.com/unplug-go/unplug/scenarios/broken"
	"github.com/unplug-go/unplug/scenarios/explore"
	"github.com/unplug-go/unplug/scenarios/oracle"
)

// docs are the texts for people, whose claims these tests hold against the code.
func docs(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"} {
		out[name] = read(t, name)
	}
	return out
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(name))
	require.NoError(t, err)
	return string(text)
}

// table gives the rows of README.md whose first cell matches, cells trimmed.
func table(t *testing.T, first string) [][]string {
	t.Helper()
	var rows [][]string
	for line := range strings.Lines(read(t, "README.md")) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) > 1 && regexp.MustCompile("^"+first+"$").MatchString(cells[0]) {
			rows = append(rows, cells)
		}
	}
	return rows
}

// lower is the text with a small first letter, unless a name in capitals begins it.
func lower(s string) string {
	if len(s) > 1 && s[1] >= 'A' && s[1] <= 'Z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

func TestReadmeListsTheModels(t *testing.T) {
	var want [][]string
	for _, m := range crash.Models() {
		left, stands, ok := strings.Cut(m.Doc(), ". Stands for ")
		require.True(t, ok, "%s: Doc has no second sentence: %s", m, m.Doc())
		want = append(want, []string{
			"`" + string(m) + "`", fmt.Sprint(m.DefaultTear()), lower(left), strings.TrimSuffix(stands, "."),
		})
	}
	models := make([]string, 0, len(want))
	for _, w := range want {
		models = append(models, w[0])
	}
	assert.Equal(t, want, table(t, strings.Join(models, "|")))
}

func TestReadmeListsTheRules(t *testing.T) {
	var want [][]string
	for _, r := range oracle.Rules() {
		want = append(want, []string{r.ID, r.Name, r.What})
	}
	assert.Equal(t, want, table(t, `UP\d\d\d`))
}

func TestReadmeListsTheBugs(t *testing.T) {
	var want [][]string
	names := make([]string, 0, len(broken.Bugs()))
	for _, b := range broken.Bugs() {
		want = append(want, []string{"`" + b.Name + "`", b.Rule, b.What})
		names = append(names, "`"+b.Name+"`")
	}
	assert.Equal(t, want, table(t, strings.Join(names, "|")))
	assert.Contains(t, read(t, "README.md"), fmt.Sprintf("\n%d mistakes are built in", len(want)))
}

func TestReadmeListsTheScenes(t *testing.T) {
	var names []string
	for _, row := range table(t, "`("+strings.Join(explore.SceneNames(), "|")+")`") {
		names = append(names, strings.Trim(row[0], "`"))
	}
	assert.Equal(t, explore.SceneNames(), names)
}

func TestReadmeNamesTheDefaultModels(t *testing.T) {
	var names []string
	for _, m := range crash.Default() {
		names = append(names, "`"+string(m)+"`")
	}
	last := len(names) - 1
	want := "`torture` runs " + strings.Join(names[:last], ", ") + " and " + names[last] + " unless"
	assert.Contains(t, read(t, "README.md"), want)
}

// The plug-in that README.md shows is one that compiles and passes.
func TestReadmePlugInIsTheExample(t *testing.T) {
	_, rest, ok := strings.Cut(read(t, "README.md"), "```go\n")
	require.True(t, ok, "README.md has no Go code")
	code, _, ok := strings.Cut(rest, "```")
	require.True(t, ok)
	assert.Contains(t, read(t, "scenarios/example_test.go"), code)
	assert.LessOrEqual(t, strings.Count(code, "\n"), 20, "README.md promises about 20 lines")
}

func TestLinksLeadSomewhere(t *testing.T) {
	for name, text := range docs(t) {
		for _, m := range regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`).FindAllStringSubmatch(text, -1) {
			if strings.HasPrefix(m[1], "https://") {
				continue
			}
			_, err := os.Stat(filepath.FromSlash(m[1]))
			assert.NoError(t, err, "%s links to %s", name, m[1])
		}
	}
}

func TestMakeTargetsExist(t *testing.T) {
	makefile := read(t, "Makefile")
	for name, text := range docs(t) {
		for _, m := range regexp.MustCompile("`make ([a-z-]+)").FindAllStringSubmatch(text, -1) {
			assert.Contains(t, makefile, "\n"+m[1]+": ## ", "%s names make %s", name, m[1])
		}
	}
}

// build gives the path of the command, built.
func build(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "unplug")
	if runtime.GOOS == "windows" {
		bin += ".exe"
	}
	out, err := exec.Command("go", "build", "-o", bin, "./cmd/unplug").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return bin
}

// command builds the command and gives a function that runs it; it must exit 0.
func command(t *testing.T) func(args ...string) string {
	t.Helper()
	bin := build(t)
	return func(args ...string) string {
		out, err := exec.Command(bin, args...).CombinedOutput()
		require.NoError(t, err, "unplug %s: %s", strings.Join(args, " "), out)
		return string(out)
	}
}

// What README.md shows of a failure is what the command prints, but for the time that it
// took. With UPDATE_README=1 in the environment the text is brought up to date instead.
func TestReadmeShowsWhatIsPrinted(t *testing.T) {
	readme := read(t, "README.md")
	shown := regexp.MustCompile("(?s)```console\n\\$ go run ./cmd/unplug (torture reference --bug [^\n]*)\n(.*?)```").FindStringSubmatch(readme)
	require.NotNil(t, shown, "README.md shows no failure")

	cmd := exec.Command(build(t), strings.Fields(shown[1])...)
	cmd.Args[0] = "unplug" // as which the lines to rerun name it
	cmd.Dir = t.TempDir()  // where it saves its findings
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	out, err := cmd.Output()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 1, exit.ExitCode(), "a failure exits 1: %s", exit.Stderr)
	printed := strings.ReplaceAll(string(out), " unplug replay ", " go run ./cmd/unplug replay ")

	if os.Getenv("UPDATE_README") != "" {
		block := "```console\n$ go run ./cmd/unplug " + shown[1] + "\n" + printed + "```"
		require.NoError(t, os.WriteFile("README.md", []byte(strings.Replace(readme, shown[0], block, 1)), 0o644))
		return
	}
	assert.Equal(t, timeless(printed), timeless(shown[2]), "UPDATE_README=1 go test . brings README.md up to date")
}

// timeless is a report without how long it took, on lines of any length.
func timeless(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return regexp.MustCompile(`[\d.]+ s, [\d,]+ states/s`).ReplaceAllString(text, "TIME")
}

// What the texts name on the command line is there: commands, flags, subjects, IDs.
func TestCommandLineIsTrue(t *testing.T) {
	unplug := command(t)
	help := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z]+) +[A-Z]`).FindAllStringSubmatch(unplug("--help"), -1) {
		help[m[1]] = unplug(m[1], "--help")
	}
	require.Contains(t, help, "torture")

	ids := map[string]bool{}
	var rules []struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(unplug("explain", "--json")), &rules))
	for _, r := range rules {
		ids[r.ID] = true
	}
	list := unplug("torture", "--list")

	for name, text := range docs(t) {
		for _, id := range regexp.MustCompile(`\bUP\d\d\d\b`).FindAllString(text, -1) {
			assert.True(t, ids[id], "%s names %s, which unplug explain does not know", name, id)
		}
		for _, f := range regexp.MustCompile("`(--[a-z-]+)").FindAllStringSubmatch(text, -1) {
			assert.True(t, hasFlag(f[1], slices.Collect(maps.Values(help))...), "%s names flag %s, which no command has", name, f[1])
		}
		for _, c := range calls(text) {
			if help[c.command] == "" {
				t.Errorf("%s: no such command: %s", name, c.line)
			}
			for _, f := range c.flags {
				assert.True(t, hasFlag(f, help[c.command]), "%s: no such flag %s: %s", name, f, c.line)
			}
			if c.command == "torture" && c.subject != "" && !strings.Contains(list, "\n  "+c.subject+" ") {
				t.Errorf("%s: no such subject: %s", name, c.line)
			}
		}
	}
}

// hasFlag reports whether one of the help texts has the flag.
func hasFlag(flag string, help ...string) bool {
	return slices.ContainsFunc(help, func(h string) bool {
		return regexp.MustCompile(`[ ,]` + flag + `[ \n,]`).MatchString(h)
	})
}

// call is a use of the command in a text.
type call struct {
	line, command, subject string
	flags                  []string
}

// calls finds `unplug …` and `go run ./cmd/unplug …` in code, inline or in a block.
func calls(text string) []call {
	const words = `(?:go run \./cmd/)?unplug ([a-z]+)([^` + "`" + `\n#]*)`
	inline, block := regexp.MustCompile("`"+words), regexp.MustCompile(`(?m)^(?:\$ )?`+words)
	var out []call
	for i, part := range strings.Split(text, "```") { // every second one is a block
		code := inline
		if i%2 == 1 {
			code = block
		}
		for _, m := range code.FindAllStringSubmatch(part, -1) {
			out = append(out, parseCall(m[0], m[1], strings.Fields(m[2])))
		}
	}
	return out
}

func parseCall(line, command string, words []string) call {
	c := call{line: line, command: command}
	for i, word := range words {
		switch word = strings.TrimRight(word, ","); {
		case strings.HasPrefix(word, "-"):
			c.flags = append(c.flags, word)
		case i == 0 && word == strings.ToLower(word):
			c.subject = word
		}
	}
	return c
}
