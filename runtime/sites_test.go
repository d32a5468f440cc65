package runtime_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/sites/demo"
)

// siteStep is one entry of testdata/sites/SITE/calls.json: a call as in
// testdata/live, something that a person does, or neither, and what follows.
type siteStep struct {
	liveCall

	dir   string
	Press string `json:"press"` // an attachment to click
	Keys  string `json:"keys"`  // a chord to press
	// Map is a file that takes the place of actions.json, where the case is
	// loaded from a bundle.
	Map string `json:"map"`
	// Attachments is what runtime_status says of them afterwards: ID=STATE with
	// spaces between, or none.
	Attachments string `json:"attachments"`
	// Called is a subset of runtime.attachment_called.
	Called any `json:"called"`
	Signal *struct {
		Name    string `json:"name"`
		Payload any    `json:"payload"`
		Caused  bool   `json:"caused"` // it names the call before it
	} `json:"signal"`
	// Signals are those that come next, in this order and without another one
	// between, as NAME or NAME PAYLOAD.
	Signals []string `json:"signals"`
}

// TestSites drives the sites below testdata/sites as their calls.json say. The
// map of a site is its actions.json, or a storage folder beside it.
func TestSites(t *testing.T) {
	dirs, err := filepath.Glob("../testdata/sites/*/calls.json")
	if err != nil || len(dirs) < 2 {
		t.Fatalf("found %d sites: %v", len(dirs), err)
	}
	for _, path := range dirs {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			h := openLive(t, dir)
			driveSite(t, h, subscribe(t, h), path)
		})
	}
}

// TestDemoSite drives the site inside the binary, with the map that describes
// it, as its calls.json says.
func TestDemoSite(t *testing.T) {
	server := httptest.NewServer(demo.Handler(50 * time.Millisecond))
	t.Cleanup(server.Close)
	maps, err := runtime.MapFromFiles(demo.Maps, demo.MapName, catalog.Standard(), runtimetest.Engine(t))
	if err != nil {
		t.Fatal(err)
	}
	h := open(t, runtime.Options{Open: []string{server.URL + "/"}, Maps: maps})
	driveSite(t, h, subscribe(t, h), "../sites/demo/calls.json")
}

func driveSite(t *testing.T, h *runtime.Host, ev events, path string) {
	t.Helper()
	for i, s := range readCalls[siteStep](t, path) {
		s.check(t, h, ev, fmt.Sprintf("step %d, %s", i+1, s.About))
	}
}

func (s siteStep) check(t *testing.T, h *runtime.Host, ev events, at string) {
	t.Helper()
	t.Log(at)
	if s.Map != "" {
		s.importMap(t, h)
	}
	if s.Eval != "" && s.Action+s.Mode+s.Call == "" {
		args, _ := json.Marshal(map[string]string{"source": s.Eval})
		value(t, do(t, h, "debug.run_javascript", string(args), 10*time.Second))
	}
	switch {
	case s.Press != "":
		value(t, do(t, h, "debug.run_javascript", `{"source":"if (typeof window.box !== 'function') window.box = `+
			`(id) => { const r = document.querySelector('[data-actions-json-attachment=\"' + id + `+
			`'\"]').getBoundingClientRect(); return {x: r.x + r.width / 2, y: r.y + r.height / 2}; }"}`,
			10*time.Second))
		clickAttachment(t, h, s.Press)
	case s.Keys != "":
		args, _ := json.Marshal(map[string]string{"key": s.Keys})
		value(t, do(t, h, "keyboard.press", string(args), 10*time.Second))
	case s.Action != "" || s.Mode != "" || s.Call != "":
		s.liveCall.check(t, h, at)
	}
	if s.Signal != nil {
		e := ev.signal(t, s.Signal.Name)
		if diff := missing(s.Signal.Payload, decoded(t, e.Payload)); diff != "" {
			t.Errorf("%s: signal %s: %s in %s", at, e.Name, diff, e.Payload)
		}
		if s.Signal.Caused && e.PreviousCallID == "" {
			t.Errorf("%s: signal %s names no call", at, e.Name)
		}
	}
	for _, want := range s.Signals {
		if got := ev.next(t); got != want {
			r := do(t, h, runtime.SiteTool, `{"mode":"signals"}`, 10*time.Second)
			t.Errorf("%s: signal %s, want %s\n\t%s", at, got, want, r.Output)
		}
	}
	if s.Called != nil {
		e := ev.signal(t, runtime.AttachmentCalledEvent)
		if diff := missing(s.Called, decoded(t, e.Payload)); diff != "" {
			t.Errorf("%s: called: %s in %s", at, diff, e.Payload)
		}
	}
	if s.Attachments != "" {
		attachmentStates(t, h, strings.TrimPrefix(s.Attachments, "none"))
	}
	if s.Then != "" && s.Action+s.Mode+s.Call == "" {
		s.Mode = "list"
		s.Args = nil
		s.Eval = ""
		s.Expect, s.Error = nil, ""
		s.liveCall.check(t, h, at)
	}
}

// next returns the next signal of a map as NAME PAYLOAD, or NAME alone when its
// payload is empty.
func (e events) next(t *testing.T) string {
	t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case ev := <-e:
			switch {
			case ev.Kind != runtime.DOMEvent || strings.HasPrefix(ev.Name, "runtime."):
			case string(ev.Payload) == "{}":
				return ev.Name
			default:
				return ev.Name + " " + string(ev.Payload)
			}
		case <-timeout:
			return "none within 15 s"
		}
	}
}
