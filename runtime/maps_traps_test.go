package runtime_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
)

// The classic traps of the language are warned of wherever a map holds an
// expression: slots, state projections, their summaries and postconditions.
func TestMapsWarnAboutTrapsEverywhere(t *testing.T) {
	const doc = `{"protocol":"actions.json","version":1,
"tools":[{"name":"a.run","description":"d","input_schema":{},"workflow":{"version":1,"expression_language":"jsonata","steps":[{"id":"x","primitive":"page.info","args":{"ms":"{% input.ms != null ? 1 : 2 %}"}}],
 "postcondition":{"projection":"a.board","language":"jsonata","expression":"state.cards = null"}}}],
"state_projections":[{"name":"a.board","snapshot":{"version":1,"source":"dom","extract":[{"id":"cards","selector":".card"}],
 "projection":{"language":"jsonata","expression":"{\"none\": records.cards = null, \"one\": records.cards[x]}"}},
 "summaries":[{"name":"agent_context","expression":"$count(cards) > 0"},{"name":"fine","expression":"$exists(cards)"}],
 "postconditions":{"a.run":{"verify":{"language":"jsonata","expression":"null != state.cards"}}}}]}`
	path := filepath.Join(t.TempDir(), "actions.json")
	if err := os.WriteFile(path, []byte(doc), 0o600); err != nil {
		t.Fatal(err)
	}
	engine, err := expr.New(expr.Native, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, reports := runtime.LoadMaps([]string{path}, catalog.Standard(), engine, runtime.MapOptions{})
	trap := regexp.MustCompile(`W\d+`)
	var got []string
	for _, r := range reports {
		for _, p := range r.Errors {
			t.Errorf("error %s %s", p.Pointer, p.Message)
		}
		for _, p := range r.Warnings {
			got = append(got, p.Pointer+" "+trap.FindString(p.Message))
		}
	}
	slices.Sort(got)
	want := []string{
		"/state_projections/0/postconditions/a.run/verify/expression W0001",
		"/state_projections/0/snapshot/projection/expression W0001",
		"/state_projections/0/summaries/0/expression W0002",
		"/tools/0/workflow/postcondition/expression W0001",
		"/tools/0/workflow/steps/0/args/ms W0001",
	}
	if !slices.Equal(got, want) {
		t.Errorf("warnings\n got %q\nwant %q", got, want)
	}
}
