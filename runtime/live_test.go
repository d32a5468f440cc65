package runtime_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// liveCall is one entry of testdata/live/CASE/calls.json. The calls of a case
// run in order on one tab, which shows index.html, with the case's actions.json.
type liveCall struct {
	About string `json:"about"`
	// Action is called through actions.site; Call is a call by its name instead.
	Action string          `json:"action"`
	Call   string          `json:"call"`
	Mode   string          `json:"mode"` // of actions.site; args are further arguments of it
	Args   json.RawMessage `json:"args"`
	// TimeoutMS bounds the call; 20 s without it.
	TimeoutMS int `json:"timeout_ms"`

	Expect   any    `json:"expect"` // subset of the output
	Error    string `json:"error"`
	Evidence any    `json:"evidence"` // subset of the error's evidence
	Fields   any    `json:"fields"`   // subset of its other members
	Steps    []any  `json:"steps"`    // the summaries, one subset for each
	NoSteps  bool   `json:"no_steps"` // nothing ran
	Then     string `json:"then"`     // expression in the page's own world that becomes true within 8 s
	Eval     string `json:"eval"`     // statements to run in the page before the call
}

const liveRoot = "../testdata/live"

// TestLive makes the calls of every case below testdata/live.
func TestLive(t *testing.T) {
	cases, err := filepath.Glob(liveRoot + "/*/calls.json")
	if err != nil || len(cases) == 0 {
		t.Fatalf("found no cases: %v", err)
	}
	for _, path := range cases {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			h := openLive(t, dir)
			for i, c := range readCalls[liveCall](t, path) {
				c.check(t, h, fmt.Sprintf("call %d, %s", i+1, c.About))
			}
		})
	}
}

// openLive opens a host at the index.html of a case, with its map: actions.json,
// draft.actions.json of before version 1, or a storage folder. It may import
// from files beside it.
func openLive(t *testing.T, dir string) *runtime.Host {
	t.Helper()
	s := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(s.Close)
	path, how := filepath.Join(dir, "actions.json"), runtime.MapOptions{}
	if draft := filepath.Join(dir, "draft.actions.json"); exists(draft) {
		path, how.AcceptDrafts = draft, true
	} else if storage := filepath.Join(dir, "storage"); exists(storage) {
		path = storage
	}
	maps, reports := runtime.LoadMaps([]string{path}, catalog.Standard(), runtimetest.Engine(t), how)
	for _, r := range reports {
		if !r.OK {
			t.Fatalf("%s: %v", r.Path, r.Errors)
		}
	}
	return open(t, runtime.Options{Open: []string{s.URL + "/"}, Maps: maps})
}

// readCalls reads a calls.json, in which every member must mean something.
func readCalls[T any](t *testing.T, path string) []T {
	t.Helper()
	var calls []T
	d := json.NewDecoder(bytes.NewReader(readFile(t, path)))
	d.DisallowUnknownFields()
	if err := d.Decode(&calls); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return calls
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (c liveCall) check(t *testing.T, h *runtime.Host, at string) {
	t.Helper()
	script := func(source string) map[string]any {
		args, _ := json.Marshal(map[string]string{"source": source})
		return value(t, do(t, h, "debug.run_javascript", string(args), 10*time.Second))
	}
	if c.Eval != "" {
		script(c.Eval)
	}
	args := c.Args
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	name := c.Call
	switch {
	case c.Mode != "":
		name = runtime.SiteTool
		args = json.RawMessage(`{"mode":"` + c.Mode + `",` + strings.TrimPrefix(strings.TrimSpace(string(args)), "{"))
		args = json.RawMessage(strings.Replace(string(args), ",}", "}", 1))
	case name == "":
		name = runtime.SiteTool
		args, _ = json.Marshal(map[string]any{"mode": "call", "action": c.Action, "arguments": args})
	}
	limit := 20 * time.Second
	if c.TimeoutMS > 0 {
		limit = time.Duration(c.TimeoutMS) * time.Millisecond
	}
	r := do(t, h, name, string(args), limit)
	if got := fault.CodeOf(r.Err); string(got) != c.Error {
		t.Errorf(
			"%s: got error %q, want %q: %v %.1500v\n\tsteps %.1500s\n\toutput %.600s",
			at, got, c.Error, r.Err, evidenceOf(r.Err), r.Steps, r.Output,
		)
		return
	}
	if r.Err != nil {
		if diff := missing(c.Evidence, decoded(t, r.Err.Evidence)); diff != "" {
			t.Errorf("%s: evidence %s\n\tin %.1500v", at, diff, decoded(t, r.Err.Evidence))
		}
		if diff := missing(c.Fields, decoded(t, r.Err.Fields)); diff != "" {
			t.Errorf("%s: error %s", at, diff)
		}
	} else {
		var out any
		if err := json.Unmarshal(r.Output, &out); err != nil {
			t.Fatalf("%s: %v in %s", at, err, r.Output)
		}
		if diff := missing(c.Expect, out); diff != "" {
			t.Errorf("%s: %s\n\tin %.3000s", at, diff, r.Output)
		}
	}
	var steps []any
	if len(r.Steps) > 0 {
		if err := json.Unmarshal(r.Steps, &steps); err != nil {
			t.Fatalf("%s: %v in %s", at, err, r.Steps)
		}
	}
	if c.NoSteps && len(steps) > 0 {
		t.Errorf("%s: something ran: %s", at, r.Steps)
	}
	if c.Steps != nil {
		if diff := missing(any(c.Steps), any(steps)); diff != "" {
			t.Errorf("%s: steps %s\n\tin %.3000s", at, diff, r.Steps)
		}
	}
	if c.Then != "" {
		wait := "const end = performance.now() + 60000; while (performance.now() < end) { if (" + c.Then +
			") return true; await new Promise((r) => setTimeout(r, 20)); } return false;"
		if v := script(wait); v["result"] != true {
			t.Errorf("%s: then %s does not hold", at, c.Then)
		}
	}
}

func evidenceOf(err *fault.Error) any {
	if err == nil {
		return nil
	}
	b, _ := json.Marshal(err.Evidence)
	return strings.TrimSpace(string(b))
}
