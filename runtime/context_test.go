package runtime_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"
)

// The list carries the documentation that applies where the page stands: by
// address, by what is there, and by what the caller is about.
func TestTheListCarriesItsContext(t *testing.T) {
	const manifest = `{"protocol":"actions.json","version":1,"tools":[{"name":"a","description":"d","input_schema":{},"x_actions":{"static_output":1}}],
		"states":[
			{"name":"full","diagnostics":[{"name":"rows","target":{"selector":"li"}}]},
			{"name":"empty","diagnostics":[{"name":"hint","target":{"selector":"#hint"}}]}],
		"context":[
			{"id":"always","body":"b"},
			{"id":"when_full","body":"b","load_when":{"states":["full"]}},
			{"id":"when_empty","body":"b","load_when":{"states":["empty"]}},
			{"id":"with_rows","body":"b","load_when":{"targets":["full.rows"],"url_contains":"/list"}},
			{"id":"elsewhere","body":"b","load_when":{"url_contains":"/board"}},
			{"id":"for_task","title":"Archiving","body":"b","load_when":{"tasks":["archive rows"]},"available_tools":["a"]}]}`
	h := openMap(t, []string{serve(t, map[string]string{"/list": "<ul><li>1<li>2</ul>"}) + "/list"}, manifest)
	for args, want := range map[string][]string{
		`{"mode":"list"}`: {"always", "when_full", "with_rows"},
		`{"mode":"list","task":"Archive the old rows"}`: {"always", "when_full", "with_rows", "for_task"},
	} {
		r := do(t, h, "actions.site", args, 20*time.Second)
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		var out struct {
			Context []struct {
				ID string `json:"id"`
			} `json:"context"`
		}
		if err := json.Unmarshal(r.Output, &out); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range out.Context {
			got = append(got, c.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: context %q, want %q\n%s", args, got, want, r.Output)
		}
	}
}
