package runtime_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/runtime"
)

// TestQuirkIndexedDiff: what an insertion in front of a list is.
func TestQuirkIndexedDiff(t *testing.T) {
	url := serve(t, map[string]string{"/": shelfPage})
	for _, c := range []struct {
		name, want string
		set        quirks.Set
	}{
		{"strict", `[{"op":"add","path":"/shelf/items/0","value":{"id":"a","name":"Ant"}}]`, quirks.Set{}},
		{"extension", `[{"op":"replace","path":"/shelf/items/0/id","value":"a"},{"op":"replace",` +
			`"path":"/shelf/items/0/name","value":"Ant"},` +
			`{"op":"add","path":"/shelf/items/1","value":{"id":"b","name":"Bee"}}]`, quirks.Of(quirks.IndexedDiff)},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := open(t, runtime.Options{
				Open:   []string{url},
				Quirks: c.set,
				Maps:   mapsOf(t, mapOf(nil, []string{shelfProjection("shelf.items", "")})),
			})
			got := output(t, site(t, h, `{"mode":"state_diff","projection_name":"shelf.items",`+
				`"baseline":{"shelf":{"items":[{"id":"b","name":"Bee"}]}}}`))
			if encode(t, got["patches"]) != c.want {
				t.Errorf("got %s, want %s", encode(t, got["patches"]), c.want)
			}
		})
	}
}

// TestQuirkPostconditionOnce: whether a state that comes a moment later counts.
func TestQuirkPostconditionOnce(t *testing.T) {
	url := serve(t, map[string]string{
		"/": strings.Replace(shelfPage, "setTimeout(add, 300)", "setTimeout(add, 3000)", 1),
	})
	conditions := `"postconditions":{"shelf.later":` +
		fmt.Sprintf(
			`{"verify":{"language":"jsonata","expression":%q},"timeout_ms":25000}`,
			`{% $count(state.shelf.items) = 3 %}`,
		) + `},`
	for _, c := range []struct {
		name string
		set  quirks.Set
		code fault.Code
	}{
		{"strict", quirks.Set{}, ""},
		{"extension", quirks.Of(quirks.PostconditionOnce), fault.StatePostconditionFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := open(t, runtime.Options{Open: []string{url}, Quirks: c.set, Maps: mapsOf(t, mapOf(
				[]string{tool("shelf.later", click("a", "#later"), "")},
				[]string{shelfProjection("shelf.items", conditions)}))})
			r := site(t, h, `{"mode":"call","action":"shelf.later","arguments":{}}`)
			if fault.CodeOf(r.Err) != c.code {
				t.Errorf("got %v, want code %q", r.Err, c.code)
			}
		})
	}
}
