package sites_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/sites"
)

func TestContextIsSelectedByTheSituation(t *testing.T) {
	block := func(id, when string) string { return fmt.Sprintf(`{"id":%q,"body":"b","load_when":%s}`, id, when) }
	l := load(t, tree(t, map[string]string{
		"scopes/private/sites/a.test/m/actions.json": doc(
			[]string{"x"}, `"states":[{"name":"s"},{"name":"r"}]`, `"context":[`+strings.Join([]string{
				`{"id":"always","title":"T","body":"B","available_tools":["x"],"next_states":["r"]}`,
				block("empty", `{}`),
				block("state", `{"states":["s","r"]}`),
				block("target", `{"targets":["s.form"]}`),
				block("attachment", `{"attachments":["badge"]}`),
				block("url", `{"url_contains":"/Board/"}`),
				block("urls", `{"url_contains":["/none","/board/"]}`),
				block("matches", `{"url_matches":"https://a.test/*?card=1"}`),
				block("task", `{"tasks":["move a card","archive"]}`),
				block("both", `{"states":["s"],"url_contains":"/board/"}`),
				block("blank", `{"tasks":[""]}`),
			}, ",")+`]`,
		),
		"scopes/public/sites/b.test/m/actions.json": doc(nil, `"context":[{"id":"other","body":"b"}]`),
	}))
	const page = "https://a.test/list"
	tests := []struct {
		name string
		s    sites.Situation
		want string
	}{
		{"nothing known", sites.Situation{URL: page}, "always empty"},
		{"a state", sites.Situation{URL: page, States: []string{"r"}}, "always empty state"},
		{"another state", sites.Situation{URL: page, States: []string{"S"}}, "always empty"},
		{"a target", sites.Situation{URL: page, Targets: []string{"s.form"}}, "always empty target"},
		{"an attachment", sites.Situation{URL: page, Attachments: []string{"badge"}}, "always empty attachment"},
		{"an address", sites.Situation{URL: "https://a.test/board/1"}, "always empty url urls"},
		{"an address that matches", sites.Situation{URL: "https://a.test/board?card=1"}, "always empty matches"},
		{"a task", sites.Situation{URL: page, Task: "Please move the first card, a long one"}, "always empty task"},
		{"another word of a task", sites.Situation{URL: page, Task: "Archive it"}, "always empty task"},
		{"part of a task", sites.Situation{URL: page, Task: "move it"}, "always empty"},
		{
			"conditions hold together", sites.Situation{URL: "https://a.test/board/", States: []string{"s"}},
			"always empty state url urls both",
		},
		{"another site", sites.Situation{URL: "https://b.test/"}, "other"},
		{"no map", sites.Situation{URL: "https://c.test/"}, ""},
	}
	for _, tt := range tests {
		blocks, dropped := l.Context(tt.s)
		var got []string
		for _, b := range blocks {
			got = append(got, b.ID)
		}
		if strings.Join(got, " ") != tt.want || dropped != 0 {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	blocks, _ := l.Context(sites.Situation{URL: page})
	if got, want := toJSON(t, blocks[0]), `{"id":"always","title":"T","body":"B","available_tools":["x"],`+
		`"next_states":["r"],"map_path":"scopes/private/sites/a.test/m/actions.json"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// An imported block speaks of its own names; agents know those with the
// namespace.
func TestImportedContext(t *testing.T) {
	l := load(t, tree(t, map[string]string{
		"sites/a.test/m/actions.json": doc(
			nil, `"imports":[{"id":"p","kind":"local","uri":"part.json","namespace":"p"}]`,
		),
		"sites/a.test/m/part.json": doc([]string{"x"}, `"states":[{"name":"s"}]`,
			`"context":[{"id":"c","body":"b","load_when":{"states":["s"]},"available_tools":["x"],`+
				`"next_states":["s"]}]`),
	}))
	if blocks, _ := l.Context(sites.Situation{URL: "https://a.test/", States: []string{"s"}}); len(blocks) != 0 {
		t.Errorf("a state of another map selects it: %+v", blocks)
	}
	blocks, _ := l.Context(sites.Situation{URL: "https://a.test/", States: []string{"p.s"}})
	if len(blocks) != 1 || blocks[0].ID != "p.c" || !slices.Equal(blocks[0].AvailableTools, []string{"p.x"}) ||
		!slices.Equal(blocks[0].NextStates, []string{"p.s"}) || blocks[0].Source.Import != "p" {
		t.Errorf("blocks %s", toJSON(t, blocks))
	}
}

func TestContextIsBounded(t *testing.T) {
	var many []string
	for i := range 40 {
		many = append(many, fmt.Sprintf(`{"id":"c%d","body":"b"}`, i))
	}
	l := load(t, tree(t, map[string]string{
		"sites/a.test/m/actions.json": doc(nil, `"context":[`+strings.Join(many, ",")+`]`),
	}))
	if blocks, dropped := l.Context(sites.Situation{URL: "https://a.test/"}); len(blocks) != sites.MaxContextBlocks ||
		dropped != 40-sites.MaxContextBlocks {
		t.Errorf("%d blocks, %d dropped", len(blocks), dropped)
	}
	long := strings.Repeat("x", sites.MaxContextBytes-1)
	l = load(t, tree(t, map[string]string{"sites/a.test/m/actions.json": doc(
		nil, `"context":[{"id":"a","body":"`+long+`"},{"id":"b","body":"xx"},{"id":"c","body":"x"}]`,
	)}))
	blocks, dropped := l.Context(sites.Situation{URL: "https://a.test/"})
	if len(blocks) != 2 || blocks[1].ID != "c" || dropped != 1 {
		t.Errorf("%d blocks, %d dropped", len(blocks), dropped)
	}
}
