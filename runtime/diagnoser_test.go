package runtime_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/outrider-run/outrider/runtime"
)

// The status of a tab names the states that are current, without a call:
// after a change of the page and after a navigation.
func TestStatesAreKeptUpWithThePage(t *testing.T) {
	h := openLive(t, liveRoot+"/states")
	ev := subscribe(t, h)
	is := func(want ...string) {
		t.Helper()
		end := time.After(patience)
		for !slices.Equal(h.Tabs()[0].States, want) {
			select {
			case <-ev:
			case <-end:
				t.Fatalf("the status names the states %v, want %v", h.Tabs()[0].States, want)
			}
		}
	}
	is()
	run := func(source string) {
		args, _ := json.Marshal(map[string]string{"source": source})
		value(t, do(t, h, "debug.run_javascript", string(args), 10*time.Second))
	}
	run("document.getElementById('sign').click()")
	is("signed_in")
	run("library.open()")
	is("signed_in", "list_open", "signed_in_list")
	run("location.reload()")
	is()
}

// A page without states is not probed.
func TestStatesCostNothingWithoutAny(t *testing.T) {
	s := serve(t, map[string]string{"/": "<p>plain"})
	h := openMap(t, []string{s + "/"}, `{"protocol":"actions.json","version":1,"states":[{"name":"unseen"}],
		"tools":[{"name":"a","description":"a","input_schema":{"type":"object"},"x_actions":{"static_output":{}}}]}`)
	value(t, do(t, h, "debug.run_javascript", `{"source":"document.body.append('x')"}`, 10*time.Second))
	value(t, do(t, h, runtime.SiteTool, `{"mode":"list"}`, 10*time.Second))
	if n := h.Diagnoses(); n != 0 {
		t.Errorf("the states of the page were probed %d times without a call", n)
	}
}
