package agents_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tiktoken-go/tokenizer"

	"github.com/outrider-run/outrider/runtime/browser/launch"
)

const (
	peerCommands = "@playwright/cli@0.1.22"
	shellHeading = "\n## By shell\n"
)

// TestAgentsByShell does the same tasks by commands of a shell, with the same policy: a call is one line for a shell,
// with all that the last look showed. It writes its part of docs/agents.md.
func TestAgentsByShell(t *testing.T) {
	if os.Getenv("OUTRIDER_AGENTS") == "" {
		t.Skip("make agents runs it: it installs applications from npm and PyPI")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 110*time.Minute)
	defer cancel()
	root := folder(t)
	peers := filepath.Join(root, "peers-shell")
	if err := os.MkdirAll(peers, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := npm(ctx, peers, peerCommands, peerShell); err != nil {
		t.Skipf("npm is not reachable: %v", err)
	}
	drivers := shellDrivers(ctx, t, root, filepath.Join(peers, "node_modules/.bin"))
	done, served, all := everyTask(ctx, t, root, drivers)
	told := shellReport(drivers, done, served)
	t.Log("\n" + told)
	if !all || len(drivers) != 3 {
		return
	}
	before, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	mcp, _, _ := strings.Cut(string(before), shellHeading)
	if err := os.WriteFile(page, []byte(mcp+told), 0o644); err != nil {
		t.Fatal(err)
	}
}

// withShellPart is the page of the servers with the part that TestAgentsByShell wrote last.
func withShellPart(told string) []byte {
	before, err := os.ReadFile(page)
	_, part, ok := strings.Cut(string(before), shellHeading)
	if err != nil || !ok {
		return []byte(told)
	}
	return []byte(told + shellHeading + part)
}

// shellDrivers are the commands, each with a session of its own.
func shellDrivers(ctx context.Context, t *testing.T, root, bin string) []*driver {
	chromium, err := launch.Find(launch.Chromium, "")
	if err != nil {
		t.Fatal(err)
	}
	own := t.TempDir()
	if err := run(ctx, "../../..", "go", "build", "-o", filepath.Join(own, "outrider"), "./cmd/outrider"); err != nil {
		t.Fatal(err)
	}
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	sockets, err := os.MkdirTemp("", "a") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(sockets) })
	settings := filepath.Join(own, "playwright.json")
	config, err := json.Marshal(map[string]any{
		"allowUnrestrictedFileAccess": true,
		"browser": map[string]any{"isolated": true, "launchOptions": map[string]any{
			"executablePath": chromium.Path, "headless": true, "args": []string{"--no-sandbox"},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, config, 0o600); err != nil {
		t.Fatal(err)
	}
	session := fmt.Sprintf("agents-shell-%d", os.Getpid())
	path := "PATH=" + own + ":" + bin + ":" + os.Getenv("PATH")
	drivers := []*driver{
		{
			dialect: outriderShell{},
			name:    "outrider",
			who:     "a",
			command: []string{"sh"},
			guide:   []string{"-c", "outrider skill"},
			ends:    []string{"-c", "outrider close"},
			env: []string{
				path, "OUTRIDER_SESSION=" + session, "OUTRIDER_UPLOAD_DIR=" + root, "XDG_RUNTIME_DIR=" + sockets,
			},
		},
		{
			dialect: playwrightShell{},
			name:    "playwright-cli",
			who:     "b",
			command: []string{"sh"},
			guide:   []string{"-c", "playwright-cli --help"},
			begins:  []string{"-c", "playwright-cli open --config " + settings},
			ends:    []string{"-c", "playwright-cli close"},
			env:     []string{path, "PLAYWRIGHT_CLI_SESSION=" + session},
		},
		{
			dialect: agentBrowser{},
			name:    "agent-browser",
			who:     "c",
			command: []string{filepath.Join(bin, "agent-browser")},
			guide:   []string{"skills", "get", "core"},
			ends:    []string{"close"},
			env: []string{
				"AGENT_BROWSER_EXECUTABLE_PATH=" + chromium.Path,
				"AGENT_BROWSER_ARGS=--no-sandbox",
				"AGENT_BROWSER_SESSION=" + session,
			},
		},
	}
	if names := os.Getenv("OUTRIDER_AGENTS_SERVERS"); names != "" {
		drivers = slices.DeleteFunc(drivers, func(d *driver) bool {
			return !slices.Contains(strings.Split(names, ","), d.name)
		})
	}
	for _, d := range drivers {
		d.shell = true
		d.codec = codec
		d.folder = t.TempDir()
		if dir := os.Getenv("OUTRIDER_AGENTS_LOG"); dir != "" {
			log, err := os.Create(filepath.Join(dir, d.name+"-shell.log"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = log.Close() })
			d.log = log
		}
		if _, err := exec.LookPath(d.command[0]); err != nil {
			t.Fatal(err)
		}
		if err := d.start(ctx); err != nil {
			t.Fatalf("starting %s: %v", d.name, err)
		}
		t.Cleanup(func() { d.stop(ctx) })
	}
	return drivers
}

// shellReport is the part of docs/agents.md about commands.
func shellReport(drivers []*driver, done []result, served int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nThe same tasks by commands in a shell, in a run of their own. A call is one line for a "+
		"shell, with all that\nthe last look showed: `outrider do`, `playwright-cli` commands joined by `&&`, `batch` "+
		"of agent-browser. What each\nprints as its guide for agents stands for the list of tools. Peers: `%s`, "+
		"`%s`.\n\n", shellHeading, peerCommands, peerShell)
	fmt.Fprintf(&b, "%d tasks on %d applications.\n\n| command | solved | calls | tokens read | tokens written | "+
		"seconds | tokens of the guide |\n|---|---|---|---|---|---|---|\n", len(done), served)
	totals := func(only func(result) bool) (n int, sums []cost) {
		sums = make([]cost, len(drivers))
		for _, r := range done {
			if !only(r) {
				continue
			}
			n++
			for i, s := range r.spent {
				sums[i].calls += s.calls
				sums[i].in += s.in
				sums[i].out += s.out
				sums[i].time += s.time
			}
		}
		return n, sums
	}
	_, all := totals(func(result) bool { return true })
	var unsolved []string
	for i, d := range drivers {
		solved := 0
		for _, r := range done {
			if r.failed[i] == nil {
				solved++
			} else if i == 0 {
				unsolved = append(unsolved, r.name)
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %.0f | %d |\n",
			d.name, solved, all[i].calls, all[i].in, all[i].out, all[i].time.Seconds(), d.catalog)
	}
	b.WriteString(firstIn(drivers, all))
	if len(unsolved) > 0 {
		fmt.Fprintf(&b, "\nNot solved by outrider: %s.\n", strings.Join(unsolved, "; "))
	}
	n, common := totals(func(r result) bool {
		return !slices.ContainsFunc(r.failed, func(err error) bool { return err != nil })
	})
	fmt.Fprintf(&b, "\nThe %d tasks that all solved:\n\n| command | calls | tokens read | tokens written | seconds |\n"+
		"|---|---|---|---|---|\n", n)
	for i, d := range drivers {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %.0f |\n",
			d.name, common[i].calls, common[i].in, common[i].out, common[i].time.Seconds())
	}
	b.WriteString(firstIn(drivers, common))
	return b.String()
}

// quoted is a word as a POSIX shell takes it.
func quoted(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n'\"\\$`;&|<>()*?[]{}!#~=") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// inner is a word in the text of outrider do, which stands in single quotes itself.
func inner(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n'\"\\;#") {
		return word
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(word) + `"`
}

// outriderShell does several commands by outrider do.
type outriderShell struct{ outrider }

func (outriderShell) do(ctx context.Context, d *driver, commands ...string) (string, error) {
	return d.run(ctx, "", "-c", "outrider do "+quoted(strings.Join(commands, "; ")))
}

func (o outriderShell) open(ctx context.Context, d *driver, url string, _ bool) error {
	text, err := o.do(ctx, d, "open "+url, "snapshot")
	d.reported = text
	d.take(text, false)
	return err
}

func (o outriderShell) snapshot(ctx context.Context, d *driver, _ bool) error {
	since := d.last != "" && d.seen != ""
	command := "snapshot"
	if since {
		command += " --changed"
	}
	text, err := o.do(ctx, d, command)
	d.take(text, since)
	return err
}

var failedCommand = regexp.MustCompile(`outrider: command (\d+) `)

func (o outriderShell) act(ctx context.Context, d *driver, plan []planned, _ bool) (int, error) {
	last := plan[len(plan)-1]
	var commands []string
	for _, p := range plan {
		commands = append(commands, p.outriderCommand())
	}
	look := len(plan) > 1 || !last.outlined()
	switch {
	case last.Dialog:
	case look:
		commands = append(commands, "snapshot --changed")
	default:
		commands[0] += " --outline"
	}
	text, err := o.do(ctx, d, commands...)
	d.reported = text
	if err == nil {
		if last.Dialog {
			d.seen = "" // what was seen is past
			return len(plan), nil
		}
		d.take(text, look)
		return len(plan), nil
	}
	if m := failedCommand.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1])
		return min(n-1, len(plan)), err
	}
	return 0, err
}

// outlined reports whether the command can show what changed by itself.
func (p planned) outlined() bool {
	return !p.Type && p.Hover == target{} && p.Drag == target{} && p.Upload == target{}
}

// outriderCommand is the command of a step.
func (p planned) outriderCommand() string {
	ref := inner(p.ref)
	switch {
	case p.Dialog:
		return "dialog accept"
	case p.Press != "":
		return "press " + p.Press
	case p.Type:
		return "type " + inner(p.Text)
	case p.Fill != target{}:
		return "fill " + ref + " " + inner(p.Text)
	case p.Choose != target{}:
		return "select " + ref + " " + inner(p.Text)
	case p.Hover != target{}:
		return "hover " + ref
	case p.Drag != target{}:
		return "drag " + ref + " " + inner(p.to)
	case p.Upload != target{}:
		return "upload " + ref + " " + inner(p.File)
	case p.Double != target{}:
		return "click " + ref + " --double"
	}
	return "click " + ref
}

// playwrightShell joins commands of playwright-cli, whose snapshot prints the page.
type playwrightShell struct{ playwright }

func (playwrightShell) do(ctx context.Context, d *driver, commands ...string) (string, error) {
	for i, c := range commands {
		commands[i] = "playwright-cli " + c
	}
	return d.run(ctx, "", "-c", strings.Join(commands, " && "))
}

func (p playwrightShell) open(ctx context.Context, d *driver, url string, _ bool) error {
	text, err := p.do(ctx, d, "goto "+quoted(url), "snapshot")
	d.reported = text
	d.see(text, false)
	return err
}

func (p playwrightShell) snapshot(ctx context.Context, d *driver, _ bool) error {
	text, err := p.do(ctx, d, "snapshot")
	d.see(text, false)
	return err
}

func (p playwrightShell) act(ctx context.Context, d *driver, plan []planned, _ bool) (int, error) {
	var commands []string
	for _, one := range plan {
		commands = append(commands, one.playwrightCommand())
	}
	if !plan[len(plan)-1].Dialog {
		commands = append(commands, "snapshot")
	}
	text, err := p.do(ctx, d, commands...)
	d.reported = text
	if err != nil {
		return min(strings.Count(text, "### Ran Playwright code"), len(plan)), err
	}
	d.see(text, false)
	return len(plan), nil
}

// playwrightCommand is the command of a step; a file is chosen in the chooser that a click opens.
func (p planned) playwrightCommand() string {
	switch {
	case p.Dialog:
		return "dialog-accept"
	case p.Press != "":
		return "press " + p.Press
	case p.Type:
		return "type " + quoted(p.Text)
	case p.Fill != target{}:
		return "fill " + p.ref + " " + quoted(p.Text)
	case p.Choose != target{}:
		return "select " + p.ref + " " + quoted(p.Text)
	case p.Hover != target{}:
		return "hover " + p.ref
	case p.Drag != target{}:
		return "drag " + p.ref + " " + p.to
	case p.Upload != target{}:
		return "click " + p.ref + " && playwright-cli upload " + quoted(p.File)
	case p.Double != target{}:
		return "dblclick " + p.ref
	}
	return "click " + p.ref
}
