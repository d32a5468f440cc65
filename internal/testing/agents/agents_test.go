package agents_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tiktoken-go/tokenizer"

	"github.com/outrider-run/outrider/runtime/browser/launch"
)

const (
	peerPlaywright = "@playwright/mcp@0.0.83"
	peerDevTools   = "chrome-devtools-mcp@1.11.0"
	peerShell      = "agent-browser@0.41.2"
	page           = "../../../docs/agents.md"
)

// TestTheDataOfTheTasksIsWhole reads the applications without starting any.
func TestTheDataOfTheTasksIsWhole(t *testing.T) {
	for _, a := range apps(t) {
		if a.App == "" || len(a.Tasks) == 0 || len(a.NPM)+len(a.PIP)+len(a.Deb) == 0 {
			t.Errorf("%s has no name, no tasks or no packages", a.file)
		}
		for _, task := range a.Tasks {
			if len(task.Steps) < 2 || task.Steps[0].Go == "" || task.Steps[len(task.Steps)-1].Expect == "" {
				t.Errorf("%s, %s: a task begins at an address and ends with what is expected", a.file, task.Name)
			}
		}
	}
}

// TestAgents does every task with each driver in turns and writes docs/agents.md. It runs
// with OUTRIDER_AGENTS set, and is skipped where the registries are not reachable.
func TestAgents(t *testing.T) {
	if os.Getenv("OUTRIDER_AGENTS") == "" {
		t.Skip("make agents runs it: it installs applications from npm and PyPI")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 110*time.Minute)
	defer cancel()
	root := folder(t)
	for _, command := range []string{"node", "npm", "python3"} {
		if _, err := exec.LookPath(command); err != nil {
			t.Skipf("the tasks need %s", command)
		}
	}
	peers := filepath.Join(root, "peers")
	if err := os.MkdirAll(peers, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := npm(ctx, peers, peerPlaywright, peerDevTools, peerShell); err != nil {
		t.Skipf("npm is not reachable: %v", err)
	}
	chromium, err := launch.Find(launch.Chromium, "")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), "outrider")
	if err := run(ctx, "../../..", "go", "build", "-o", bin, "./cmd/outrider"); err != nil {
		t.Fatal(err)
	}
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	drivers := []*driver{
		{dialect: outrider{}, name: "outrider", who: "a", command: []string{bin, "mcp", "--upload-dir", root}},
		{dialect: playwright{}, name: "playwright-mcp", who: "b", command: []string{
			filepath.Join(peers, "node_modules/.bin/playwright-mcp"), "--headless", "--isolated",
			"--no-sandbox", "--allow-unrestricted-file-access", "--executable-path", chromium.Path,
		}},
		{dialect: devTools{}, name: "chrome-devtools-mcp", who: "c", command: []string{
			filepath.Join(peers, "node_modules/.bin/chrome-devtools-mcp"), "--headless",
			"--isolated", "--executablePath", chromium.Path, "--chromeArg=--no-sandbox",
		}},
		{
			dialect: agentBrowser{},
			name:    "agent-browser",
			who:     "d",
			command: []string{filepath.Join(peers, "node_modules/.bin/agent-browser")},
			shell:   true,
			env: []string{
				"AGENT_BROWSER_EXECUTABLE_PATH=" + chromium.Path,
				"AGENT_BROWSER_ARGS=--no-sandbox",
				"AGENT_BROWSER_SESSION=" + fmt.Sprintf("agents-%d", os.Getpid()),
			},
		},
	}
	// Whoever looks for a cause runs one server, and reads what it was asked and answered.
	if servers := os.Getenv("OUTRIDER_AGENTS_SERVERS"); servers != "" {
		drivers = slices.DeleteFunc(drivers, func(d *driver) bool {
			return !slices.Contains(strings.Split(servers, ","), d.name)
		})
	}
	for _, d := range drivers {
		d.codec, d.folder = codec, t.TempDir()
		if dir := os.Getenv("OUTRIDER_AGENTS_LOG"); dir != "" {
			log, err := os.Create(filepath.Join(dir, d.name+".log"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = log.Close() }()
			d.log = log
		}
		if err := d.start(ctx); err != nil {
			t.Fatalf("starting %s: %v", d.name, err)
		}
		defer d.stop(ctx)
	}
	done, served, all := everyTask(ctx, t, root, drivers)
	told := report(drivers, done, served)
	t.Log("\n" + told)
	if all && len(drivers) == 4 {
		if err := os.WriteFile(page, withShellPart(told), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// result is what one task took with each driver.
type result struct {
	name   string
	spent  []cost
	failed []error
}

// line is a row of the table of tasks.
func (r result) line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |", r.name)
	for i, s := range r.spent {
		if r.failed[i] != nil {
			b.WriteString(" no |")
		} else {
			fmt.Fprintf(&b, " %d / %d |", s.calls, s.in)
		}
	}
	return b.String()
}

// report is docs/agents.md.
func report(drivers []*driver, done []result, served int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Scripted agents on real applications\n\nWritten by `make agents`, which writes it again. "+
		"An agent without a model does tasks on applications of npm, PyPI\nand Debian. It uses only what tool output "+
		"shows: it looks, finds roles and names,\ndoes in one call all that the look showed, and checks. "+
		"A server that takes several things in one call gets\nthem in one: `steps` of `act`, `batch` of agent-browser "+
		"(by its command line, whose answers are shorter than those of\nits MCP server), the forms of the other two. "+
		"What agent-browser has for a list of tools is its guide for agents.\n"+
		"The four servers take turns in one run, with the same browser and the same script. Tasks and applications "+
		"are data\nin `testdata/agents`. Peers: `%s`, `%s`, `%s`.\n\n", peerPlaywright, peerDevTools, peerShell)
	fmt.Fprintf(&b, "%d tasks on %d applications. Tokens are of o200k.\n\n| server | solved | calls | tokens read | "+
		"tokens written | seconds | tokens of the tool list |\n|---|---|---|---|---|---|---|\n", len(done), served)
	sum := func(only func(result) bool) (n int, totals []cost) {
		totals = make([]cost, len(drivers))
		for _, r := range done {
			if !only(r) {
				continue
			}
			n++
			for i, s := range r.spent {
				totals[i].calls += s.calls
				totals[i].in += s.in
				totals[i].out += s.out
				totals[i].time += s.time
			}
		}
		return n, totals
	}
	_, all := sum(func(result) bool { return true })
	for i, d := range drivers {
		solved := 0
		for _, r := range done {
			if r.failed[i] == nil {
				solved++
			}
		}
		fmt.Fprintf(
			&b, "| %s | %d | %d | %d | %d | %.0f | %d |\n",
			d.name, solved, all[i].calls, all[i].in, all[i].out, all[i].time.Seconds(), d.catalog,
		)
	}
	b.WriteString(firstIn(drivers, all))
	n, common := sum(func(r result) bool {
		return !slices.ContainsFunc(r.failed, func(err error) bool { return err != nil })
	})
	fmt.Fprintf(&b, "\nThe %d tasks that all four solved, because a task that fails costs looks in vain:\n\n"+
		"| server | calls | tokens read | tokens written | seconds |\n|---|---|---|---|---|\n", n)
	for i, d := range drivers {
		fmt.Fprintf(
			&b, "| %s | %d | %d | %d | %.0f |\n",
			d.name, common[i].calls, common[i].in, common[i].out, common[i].time.Seconds(),
		)
	}
	b.WriteString(firstIn(drivers, common))
	b.WriteString("\nEach task: calls / tokens read. `no` is a task that was not solved.\n\n| task |")
	for _, d := range drivers {
		b.WriteString(" " + d.name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(drivers)) + "\n")
	for _, r := range done {
		b.WriteString(r.line() + "\n")
	}
	return b.String()
}

// firstIn says in which columns of what the tasks took the first server is not the first.
func firstIn(drivers []*driver, totals []cost) string {
	var behind []string
	for _, column := range []struct {
		name string
		of   func(cost) int
	}{
		{"calls", func(c cost) int { return c.calls }},
		{"tokens read", func(c cost) int { return c.in }},
		{"tokens written", func(c cost) int { return c.out }},
		{"seconds", func(c cost) int { return int(c.time.Seconds()) }},
	} {
		for i := range drivers {
			if column.of(totals[i]) < column.of(totals[0]) {
				behind = append(behind, fmt.Sprintf("%s (%s)", column.name, drivers[i].name))
			}
		}
	}
	if len(behind) == 0 {
		return fmt.Sprintf("\nIn calls, tokens and seconds %s needs least.\n", drivers[0].name)
	}
	return fmt.Sprintf("\n%s does not need least in: %s.\n", drivers[0].name, strings.Join(behind, ", "))
}
