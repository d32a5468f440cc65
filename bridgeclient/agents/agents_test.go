package agents_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tiktoken-go/tokenizer"

	"github.com/outrider-run/outrider/runtime/browser/launch"
)

const (
	peerPlaywright = "@playwright/mcp@0.0.83"
	peerDevTools   = "chrome-devtools-mcp@1.11.0"
	page           = "../../docs/agents.md"
)

// TestTheDataOfTheTasksIsWhole reads the applications without starting any.
func TestTheDataOfTheTasksIsWhole(t *testing.T) {
	for _, a := range apps(t) {
		if a.App == "" || len(a.Tasks) == 0 || len(a.NPM)+len(a.PIP) == 0 {
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
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Minute)
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
	if err := npm(ctx, peers, peerPlaywright, peerDevTools); err != nil {
		t.Skipf("npm is not reachable: %v", err)
	}
	chromium, err := launch.Find("")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), "outrider")
	if err := run(ctx, "../..", "go", "build", "-o", bin, "./cmd/outrider"); err != nil {
		t.Fatal(err)
	}
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	drivers := []*driver{
		{name: "outrider", command: []string{bin, "mcp"}},
		{name: "playwright-mcp", command: []string{filepath.Join(peers, "node_modules/.bin/playwright-mcp"), "--headless", "--isolated", "--no-sandbox", "--executable-path", chromium.Path}},
		{name: "chrome-devtools-mcp", command: []string{filepath.Join(peers, "node_modules/.bin/chrome-devtools-mcp"), "--headless", "--isolated", "--executablePath", chromium.Path, "--chromeArg=--no-sandbox"}},
	}
	for _, d := range drivers {
		d.codec, d.folder = codec, t.TempDir()
		if err := d.start(ctx); err != nil {
			t.Fatalf("starting %s: %v", d.name, err)
		}
		defer func() { _ = d.session.Close() }()
	}
	only := os.Getenv("OUTRIDER_AGENTS_ONLY")
	var table strings.Builder
	total := map[string]*cost{}
	solved := map[string]int{}
	for _, d := range drivers {
		total[d.name] = &cost{}
	}
	tasks, served := 0, 0
	for _, a := range apps(t) {
		if only != "" && !strings.Contains(","+only+",", ","+a.file+",") {
			continue
		}
		t.Run(a.file, func(t *testing.T) {
			address, err := a.serve(ctx, t, root)
			if err != nil {
				t.Skipf("%s cannot be served: %v", a.App, err)
			}
			served++
			for _, one := range a.Tasks {
				tasks++
				row := fmt.Sprintf("| %s: %s |", a.App, one.Name)
				for _, d := range drivers {
					err := d.do(ctx, address, one)
					sum := total[d.name]
					sum.calls += d.spent.calls
					sum.in += d.spent.in
					sum.out += d.spent.out
					sum.time += d.spent.time
					word := "no"
					if err == nil {
						solved[d.name]++
						word = fmt.Sprintf("%d / %d", d.spent.calls, d.spent.in)
					} else {
						t.Logf("%s: %s: %v", d.name, one.Name, err)
						if d == drivers[0] {
							t.Errorf("%s: %v", one.Name, err)
						}
					}
					row += " " + word + " |"
				}
				table.WriteString(row + "\n")
			}
		})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Scripted agents on real applications\n\nWritten by `make agents`, which writes it again. An agent without a model does tasks on applications of npm and\nPyPI. It uses only what tool output shows: it looks, finds a role and a name, and acts on its ref.\n"+
		"The three servers take turns in one run, with the same browser. Tasks and applications are data in\n`testdata/agents`. Peers: `%s`, `%s`.\n\n", peerPlaywright, peerDevTools)
	fmt.Fprintf(&b, "%d tasks on %d applications.\n\n| server | solved | calls | tokens read | tokens written | seconds |\n|---|---|---|---|---|---|\n", tasks, served)
	for _, d := range drivers {
		c := total[d.name]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %.0f |\n", d.name, solved[d.name], c.calls, c.in, c.out, c.time.Seconds())
	}
	b.WriteString("\nEach task: calls / tokens read.\n\n| task | outrider | playwright-mcp | chrome-devtools-mcp |\n|---|---|---|---|\n" + table.String())
	t.Log("\n" + b.String())
	if only == "" {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
