package projection_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/projection"
)

// Both sides of what a profile changes in a read.
func TestQuirks(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><title>T</title><b>main</b><iframe srcdoc="<b>inside</b>"></iframe>
			<div id=host><template shadowrootmode=open><i>deep</i></template></div>`))
	}))
	defer srv.Close()
	tab := browsertest.Tab(t)
	_, err := tab.Navigate(t.Context(), primitives.NavigateOptions{URL: srv.URL, LoadTimeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, extract string
		set           quirks.Set
		state         string
	}{
		{name: "frame", extract: `[{"id":"b","selector":"b","frame":"iframe"}]`, state: `{"b":["inside"]}`},
		{
			name:    "frame",
			extract: `[{"id":"b","selector":"b","frame":"iframe"}]`,
			set:     quirks.Of(quirks.PlainExtract),
			state:   `{"b":["main"]}`,
		},
		{
			name:    "shadow",
			extract: `[{"id":"h","selector":"#host","fields":{"frame":{"selector":"i","shadow":true}}}]`,
			state:   `{"h":[{"frame":"deep"}]}`,
		},
		{name: "shadow", extract: `[{"id":"h","selector":"#host","fields":{"frame":{"selector":"i","shadow":true}}}]`,
			set: quirks.Of(quirks.PlainExtract), state: `{"h":[{"frame":null}]}`},
	} {
		profile := "strict"
		if !c.set.Empty() {
			profile = "extension"
		}
		t.Run(c.name+" "+profile, func(t *testing.T) {
			p, problems := projection.Compile(
				json.RawMessage(`{"name":"n","snapshot":{"version":1,"source":"dom","extract":`+c.extract+
					`,"projection":{"language":"jsonata","expression":"records"}}}`), engine(t),
			)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			s, fe := p.Read(t.Context(), primitives.WithQuirks(tab, c.set), projection.ReadOptions{})
			if fe != nil || string(s.State) != c.state {
				t.Errorf("got %v, %v, want %s", s, fe, c.state)
			}
		})
	}
}
