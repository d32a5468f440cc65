package runtime_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/outrider-run/outrider/runtime"
)

// in runs a primitive on one tab of a workspace and returns its output.
func in(t *testing.T, h *runtime.Host, tab runtime.TabStatus, name, args string) string {
	t.Helper()
	r := h.Do(t.Context(), runtime.Call{
		ID:        name,
		Name:      name,
		Arguments: json.RawMessage(args),
		Target:    runtime.Target{Workspace: tab.Workspace, TabID: tab.TabID},
		Timeout:   20 * time.Second,
	})
	if r.Err != nil {
		t.Fatalf("%s on tab %d of %q: %v", name, tab.TabID, tab.Workspace, r.Err)
	}
	return string(r.Output)
}

func workspace(t *testing.T, h *runtime.Host, isolated bool) *runtime.Workspace {
	t.Helper()
	w, err := h.NewWorkspace(t.Context(), runtime.WorkspaceOptions{Isolated: isolated})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func opened(t *testing.T, w *runtime.Workspace, url string) runtime.TabStatus {
	t.Helper()
	tab, err := w.Open(t.Context(), url, true)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestWorkspacesShareNothing(t *testing.T) {
	site := serve(t, map[string]string{"/": `<p>hello</p>`})
	h := open(t, runtime.Options{Open: []string{site + "/"}})
	one := workspace(t, h, true)
	two := workspace(t, h, true)
	plain := workspace(t, h, false)
	a := opened(t, one, site+"/")
	b := opened(t, two, site+"/")
	c := opened(t, plain, site+"/")
	const set = `{"source":"document.cookie = 'who=one; path=/'"}`
	const get = `{"source":"return document.cookie"}`
	in(t, h, a, "browser.run_javascript", set)
	for _, other := range []runtime.TabStatus{b, c} {
		if out := in(t, h, other, "browser.run_javascript", get); strings.Contains(out, "who=one") {
			t.Errorf("the cookie of an isolated workspace is seen in %q: %s", other.Workspace, out)
		}
	}
	if out := in(t, h, opened(t, one, site+"/"), "browser.run_javascript", get); !strings.Contains(out, "who=one") {
		t.Errorf("a second tab of the workspace does not see its cookie: %s", out)
	}
	if tabs := h.Tabs(); len(tabs) != 1 {
		t.Errorf("the host lists %d tabs, want its own one: %+v", len(tabs), tabs)
	}
	if tabs := one.Tabs(); len(tabs) != 2 || tabs[0].Active || !tabs[1].Active {
		t.Errorf("workspace one lists %+v, want two tabs, the second active", tabs)
	}
	// A call without a target is for the host's own tab.
	if r := h.Do(t.Context(), runtime.Call{ID: "1", Name: "page.info"}); r.Err != nil ||
		r.RuntimeID != h.Tabs()[0].RuntimeID {
		t.Errorf("a call without a target: %v on %s", r.Err, r.RuntimeID)
	}
	// And one workspace has no access to the tabs of another, whatever it names.
	r := h.Do(t.Context(), runtime.Call{
		ID:     "2",
		Name:   "page.info",
		Target: runtime.Target{Workspace: two.ID(), TabID: a.TabID},
	})
	if r.Err == nil || r.Err.Code != "runtime_not_found" {
		t.Errorf("another workspace's tab: got %v, want runtime_not_found", r.Err)
	}
}

func TestWorkspaceHoldsItsPopups(t *testing.T) {
	site := serve(t, map[string]string{"/": `<button onclick="window.open('/popup')" style="position:fixed;left:0;` +
		`top:0;width:100px;height:100px">open</button>`, "/popup": `<p>popup</p>`})
	h := open(t, runtime.Options{Open: []string{site + "/"}})
	w := workspace(t, h, true)
	tab := opened(t, w, site+"/")
	seen := make(chan runtime.Event, 8)
	defer h.Subscribe(func(ev runtime.Event) {
		if ev.Kind == runtime.TabReady {
			seen <- ev
		}
	})()
	in(t, h, tab, "pointer.click", `{"x":20,"y":20}`)
	select {
	case ev := <-seen:
		if ev.Tab.Workspace != w.ID() {
			t.Errorf("the popup belongs to %q, want %q", ev.Tab.Workspace, w.ID())
		}
	case <-time.After(patience):
		t.Fatal("no popup")
	}
}

func TestWorkspaceCloseAndRelease(t *testing.T) {
	site := serve(t, map[string]string{"/": `<p>hello</p>`})
	h := open(t, runtime.Options{Open: []string{site + "/"}})
	for _, isolated := range []bool{true, false} {
		w := workspace(t, h, isolated)
		tab := opened(t, w, site+"/")
		opened(t, w, site+"/")
		if err := w.CloseTab(t.Context(), tab.TabID); err != nil {
			t.Errorf("closing a tab: %v", err)
		}
		var group sync.WaitGroup
		for range 2 { // closing twice at once is closing once
			group.Go(func() {
				if err := w.Close(t.Context()); err != nil {
					t.Errorf("isolated %v: close: %v", isolated, err)
				}
			})
		}
		group.Wait()
		if _, err := w.Open(t.Context(), site+"/", true); err == nil {
			t.Error("a closed workspace opened a tab")
		}
		if n := len(w.Tabs()); n != 0 {
			t.Errorf("isolated %v: a closed workspace has %d tabs", isolated, n)
		}
		kept := workspace(t, h, isolated)
		opened(t, kept, site+"/")
		before := len(h.Tabs())
		kept.Release()
		if got := len(h.Tabs()); got != before+1 {
			t.Errorf("isolated %v: after release the host lists %d tabs, want %d", isolated, got, before+1)
		}
	}
}

func TestWorkspaceComesBackWithTheBrowser(t *testing.T) {
	site := serve(t, map[string]string{"/": `<p>hello</p>`})
	h := launched(t, runtime.Options{Open: []string{site + "/"}})
	w := workspace(t, h, true)
	tab := opened(t, w, site+"/")
	in(t, h, tab, "browser.run_javascript", `{"source":"document.cookie = 'who=one; path=/'"}`)
	events := subscribe(t, h)
	if err := syscall.Kill(h.BrowserPID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	events.wait(t, runtime.TabReady, func(s runtime.TabStatus) bool { return s.TabID == tab.TabID })
	out := in(t, h, tab, "browser.run_javascript", `{"source":"return location.href"}`)
	if !strings.Contains(out, site) {
		t.Errorf("the tab came back with %s", out)
	}
	if err := w.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Errorf("closing: %v", err)
	}
}

// A session holds what its client copied: another client, and the host's own, find nothing of it.
func TestWorkspacesHaveStoresOfTheirOwn(t *testing.T) {
	site := serve(t, map[string]string{"/": `<p>hello</p>`})
	h := launched(t, runtime.Options{Open: []string{site + "/"}})
	one := workspace(t, h, true)
	two := workspace(t, h, true)
	plain := workspace(t, h, false)
	a, again := opened(t, one, site+"/"), opened(t, one, site+"/")
	own := h.Tabs()[0]
	in(t, h, a, "clipboard.write", `{"text":"of one"}`)
	in(t, h, a, "transfer.write", `{"label":"rows","format":"text/plain","value":"of one"}`)
	if out := in(t, h, again, "clipboard.read", `{}`) +
		in(t, h, again, "transfer.read", `{"label":"rows","include_value":true}`); strings.Count(out, "of one") != 2 {
		t.Errorf("another tab of the workspace reads %s", out)
	}
	for _, other := range []runtime.TabStatus{opened(t, two, site+"/"), opened(t, plain, site+"/"), own} {
		if out := in(t, h, other, "clipboard.read", `{}`); strings.Contains(out, "of one") {
			t.Errorf("the clipboard of another workspace is read in %q: %s", other.Workspace, out)
		}
		r := h.Do(t.Context(), runtime.Call{
			ID:        "read",
			Name:      "transfer.read",
			Arguments: json.RawMessage(`{"label":"rows"}`),
			Target:    runtime.Target{Workspace: other.Workspace, TabID: other.TabID},
		})
		if r.Err == nil || r.Err.Code != "transfer_label_not_found" {
			t.Errorf("a transfer of another workspace is read in %q: %v", other.Workspace, r.Err)
		}
	}
	if err := one.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if out := in(
		t, h, opened(t, workspace(t, h, true), site+"/"), "clipboard.read", `{}`,
	); strings.Contains(out, "of one") {
		t.Errorf("the clipboard of a closed workspace is still there: %s", out)
	}
}
