package widgets_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/outrider-run/outrider/faces/mcp"
	"github.com/outrider-run/outrider/internal/testing/npmtest"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/runtime/browser/launch"
)

const (
	// modelTime is how long a model is waited for: libraries hold what was done a moment later.
	modelTime  = 1500 * time.Millisecond
	modelAgain = 50 * time.Millisecond
	// tools are packages that build and compare.
	playwrightPackage = "playwright-core@1.65.1"
	esbuildPackage    = "esbuild@0.28.2"
	docsPage          = "../../../docs/widgets.md"
)

// outcome is what became of a task.
type outcome int

const (
	right   outcome = iota
	refused         // told as not done
	wrong           // told as done, and it is not
)

func (o outcome) String() string { return [...]string{"right", "refused", "told as done and wrong"}[o] }

// result is what became of one task.
type result struct {
	*task
	library    *library
	outcome    outcome
	said       string
	playwright bool
}

// TestTheTasksAreWhole reads the libraries without starting anything.
func TestTheTasksAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range libraries(t) {
		if l.Library == "" || l.Of == "" || len(l.Tasks) == 0 {
			t.Errorf("%s/%s has no name, no framework or no task", l.group, l.file)
		}
		if seen[l.file] {
			t.Errorf("two libraries are called %s", l.file)
		}
		seen[l.file] = true
		for _, one := range l.Tasks {
			asked := 0
			for _, is := range []bool{
				len(one.Choose) > 0, one.Write != "", one.Set != "", one.Turn != nil,
				one.Press != "", one.Drag != "", one.Attach != "",
			} {
				if is {
					asked++
				}
			}
			if asked != 1 || one.Ask == "" || one.Model == "" || len(one.Is) == 0 {
				t.Errorf("%s: %q asks for one thing, and a model says whether it is done", l.file, one.Ask)
			}
		}
	}
}

// TestWidgets does every task on every library and writes docs/widgets.md. It runs with OUTRIDER_WIDGETS set.
// OUTRIDER_WIDGETS_ONLY names libraries, OUTRIDER_WIDGETS_LOG a file for calls and answers; with OUTRIDER_WIDGETS_ALONE
// Playwright is left out.
func TestWidgets(t *testing.T) {
	if os.Getenv("OUTRIDER_WIDGETS") == "" {
		t.Skip("make widgets runs it: it installs libraries from npm")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Minute)
	defer cancel()
	root := npmtest.Folder(t, "OUTRIDER_WIDGETS_DIR", "widgets")
	all := installed(ctx, t, root)
	site := httptest.NewServer(serve(root, all))
	defer site.Close()
	files := t.TempDir()
	if err := os.WriteFile(filepath.Join(files, "note.txt"), []byte("a note"), 0o644); err != nil {
		t.Fatal(err)
	}
	host := runtimetest.Open(t, runtime.Options{
		Open:    []string{"about:blank"},
		Browser: browser.Options{UploadDirs: []string{files}},
	})
	server, err := mcp.New(ctx, mcp.Options{Host: host, NewID: runtimetest.NewID, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(server.Handler(mcp.HTTPOptions{}))
	client := sdk.NewClient(&sdk.Implementation{Name: "widgets", Version: "1"}, nil)
	session, err := client.Connect(ctx, &sdk.StreamableClientTransport{Endpoint: front.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = session.Close()
		front.CloseClientConnections()
		front.Close()
		_ = server.Close(context.WithoutCancel(ctx))
	}()
	a := &agent{session: session, files: files}
	if path := os.Getenv("OUTRIDER_WIDGETS_LOG"); path != "" {
		log, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = log.Close() }()
		a.log = log
	}
	peer := make(chan []bool, 1)
	if os.Getenv("OUTRIDER_WIDGETS_ALONE") == "" {
		go func() { peer <- byPlaywright(ctx, t, root, site.URL, files, all) }()
	} else {
		peer <- nil
	}
	var done []result
	for i := range all {
		l := &all[i]
		t.Run(l.file, func(t *testing.T) {
			for k := range l.Tasks {
				done = append(done, do(ctx, t, host, a, site.URL, l, &l.Tasks[k]))
			}
		})
	}
	for i, right := range <-peer {
		done[i].playwright = right
	}
	told := report(done)
	t.Log("\n" + told)
	if os.Getenv("OUTRIDER_WIDGETS_ONLY")+os.Getenv("OUTRIDER_WIDGETS_ALONE") == "" && !t.Failed() {
		if err := os.WriteFile(docsPage, []byte(told), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// installed are the libraries that npm brings and that can be bundled.
func installed(ctx context.Context, t *testing.T, root string) []library {
	t.Helper()
	only := os.Getenv("OUTRIDER_WIDGETS_ONLY")
	groups := map[string]error{}
	var out []library
	for _, l := range libraries(t) {
		if only != "" && !strings.Contains(","+only+",", ","+l.file+",") {
			continue
		}
		err, known := groups[l.group]
		if !known {
			dir := filepath.Join(root, l.group)
			err = os.MkdirAll(dir, 0o755)
			if err == nil {
				err = npmtest.Install(ctx, dir, append(packages(t, l.group), esbuildPackage)...)
			}
			groups[l.group] = err
			if err != nil {
				t.Errorf("packages of %s: %v", l.group, err)
			}
		}
		if err == nil {
			err = l.bundle(ctx, root)
			if err != nil {
				t.Errorf("%s: %v", l.file, err)
			}
		}
		if err == nil {
			out = append(out, l)
		}
	}
	return out
}

// do does one task and asks the model.
func do(
	ctx context.Context, t *testing.T, host *runtime.Host, a *agent, site string, l *library, one *task,
) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	if a.log != nil {
		_, _ = fmt.Fprintf(a.log, "=== %s: %s\n", l.file, one.Ask)
	}
	r := result{task: one, library: l}
	err := a.do(ctx, site+"/page/"+l.file, *one)
	held, fits := model(ctx, host, one, err == nil)
	switch {
	case err != nil:
		r.outcome, r.said = refused, err.Error()
	case !fits:
		r.outcome = wrong
		r.said = fmt.Sprintf("holds %.200s, wanted %s", held, one.Is)
	}
	if r.outcome != right {
		t.Logf("%s: %s: %s", one.Ask, r.outcome, r.said)
	}
	if a.log != nil {
		_, _ = fmt.Fprintf(a.log, "--- %s; holds %.200s, wanted %s\n", r.outcome, held, one.Is)
	}
	return r
}

// model is what the library holds, and whether that is what was asked for.
func model(ctx context.Context, host *runtime.Host, one *task, wait bool) (string, bool) {
	var want any
	_ = json.Unmarshal(one.Is, &want)
	args, _ := json.Marshal(map[string]any{"body": "return JSON.stringify(" + one.Model + ")"})
	for end := time.Now().Add(modelTime); ; time.Sleep(modelAgain) {
		reply := host.Do(ctx, runtime.Call{
			ID: runtimetest.NewID(), Name: "page.evaluate", Arguments: args, Timeout: 10 * time.Second,
		})
		var out struct {
			Value string `json:"value"`
		}
		var held any
		if reply.Err != nil {
			out.Value = reply.Err.Error()
		} else if json.Unmarshal(reply.Value(), &out) == nil && json.Unmarshal([]byte(out.Value), &held) == nil {
			if reflect.DeepEqual(held, want) {
				return out.Value, true
			}
		}
		if !wait || time.Now().After(end) || ctx.Err() != nil {
			return out.Value, false
		}
	}
}

// byPlaywright does the tasks with the call that a person would write, in a browser of its own.
func byPlaywright(ctx context.Context, t *testing.T, root, site, files string, all []library) []bool {
	dir := filepath.Join(root, "peer")
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = npmtest.Install(ctx, dir, playwrightPackage)
	}
	if err != nil {
		t.Errorf("npm does not bring Playwright: %v", err)
		return nil
	}
	chromium, err := launch.Find(launch.Chromium, "")
	if err != nil {
		t.Error(err)
		return nil
	}
	script, err := filepath.Abs(filepath.Join(data, "playwright.mjs"))
	if err != nil {
		t.Error(err)
		return nil
	}
	var in bytes.Buffer
	n := 0
	for i := range all {
		for k := range all[i].Tasks {
			n++
			line, err := json.Marshal(struct {
				*task
				URL string `json:"url"`
			}{&all[i].Tasks[k], site + "/page/" + all[i].file})
			if err != nil {
				t.Error(err)
				return nil
			}
			in.Write(append(line, '\n'))
		}
	}
	cmd := exec.CommandContext(ctx, "node", script, dir, chromium.Path, files)
	cmd.Stdin = &in
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("Playwright: %v", err)
	}
	var right []bool
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var answer struct {
			Right bool `json:"right"`
		}
		if err := json.Unmarshal(lines.Bytes(), &answer); err != nil {
			t.Errorf("Playwright answered %q", lines.Text())
			return nil
		}
		right = append(right, answer.Right)
	}
	if len(right) != n {
		t.Errorf("Playwright answered %d of %d tasks", len(right), n)
		return nil
	}
	return right
}

// heading is how docs/widgets.md begins.
const heading = `# Widgets of libraries

Written by ` + "`make widgets`" + `, which writes it again. A person asks for something, as "choose Lisbon in City".
An agent without a model does it by the tools of MCP: a look, and at most two acts, the second only after the first was
refused. Who sets a number or a date presses Enter behind it. The agent knows no library: its one policy is
` + "`internal/testing/widgets/policy_test.go`" + `. The library's own model (its interface, or the value that the form
sends) says whether it was done.

*Right*: the model holds what was asked for. *Refused*: the answer said that it was not done. *Wrong*: the answer said
that it was done, and it was not. *Playwright*: right by the call that a person would write (` + "`%s`" + `:
` + "`selectOption`, `fill`, `setChecked`, `click`" + ` on a role or a text; where a list is no select element, a click
on it and one on the option), with three seconds for each. Libraries, pages and tasks are data in
` + "`testdata/widgets`" + `.

%d tasks on %d libraries: %d right, %d refused, %d wrong; Playwright %d right.

| library | of | tasks | right | refused | wrong | Playwright |
|---|---|---|---|---|---|---|
`

// report is docs/widgets.md.
func report(done []result) string {
	var b strings.Builder
	type counts struct{ tasks, right, refused, wrong, playwright int }
	var names []string
	by := map[string]*counts{}
	var all counts
	of := map[string]string{}
	for _, r := range done {
		c := by[r.library.Library]
		if c == nil {
			c = &counts{}
			by[r.library.Library] = c
			names = append(names, r.library.Library)
			of[r.library.Library] = r.library.Of
		}
		for _, c := range []*counts{c, &all} {
			c.tasks++
			switch r.outcome {
			case right:
				c.right++
			case refused:
				c.refused++
			case wrong:
				c.wrong++
			}
			if r.playwright {
				c.playwright++
			}
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return strings.Compare(strings.ToLower(of[a]+" "+a), strings.ToLower(of[b]+" "+b))
	})
	fmt.Fprintf(&b, heading,
		playwrightPackage, all.tasks, len(names), all.right, all.refused, all.wrong, all.playwright)
	for _, name := range names {
		c := by[name]
		fmt.Fprintf(
			&b, "| %s | %s | %d | %d | %d | %d | %d |\n",
			name, of[name], c.tasks, c.right, c.refused, c.wrong, c.playwright,
		)
	}
	missed := slices.DeleteFunc(slices.Clone(done), func(r result) bool { return r.outcome == right })
	if len(missed) > 0 {
		b.WriteString("\nWhat was not right:\n\n")
		for _, r := range missed {
			fmt.Fprintf(&b, "- %s: %s: %s\n", r.library.Library, r.Ask, r.outcome)
		}
	}
	return b.String()
}
