package projection_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection"
)

// countingPage counts the questions of one read; before is called ahead of each
// further part of an answer.
type countingPage struct {
	primitives.Page
	calls  map[string]int
	before func()
}

func (p countingPage) Call(ctx context.Context, frame primitives.FrameID, fn string, args, out any) error {
	p.calls[fn]++
	if fn == "extract_part" {
		p.before()
	}
	return p.Page.Call(ctx, frame, fn, args, out)
}

// A small answer is one call; one of megabytes comes in parts, none of which
// can be of another document.
func TestAnswersInParts(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><body><script>for(let i=0;i<3000;` +
			`i++){const p=document.createElement('p');p.textContent=('"'+i).padEnd(1000,'x');` +
			`document.body.append(p)}</script>`))
	}))
	defer srv.Close()
	tab := browsertest.Tab(t)
	navigate := func() {
		if _, err := tab.Navigate(
			t.Context(), primitives.NavigateOptions{URL: srv.URL, LoadTimeout: 20 * time.Second},
		); err != nil {
			t.Fatal(err)
		}
	}
	navigate()
	read := func(extract string, before func()) (map[string]int, json.RawMessage, *fault.Error) {
		p, problems := projection.Compile(
			json.RawMessage(`{"name":"n","snapshot":{"version":1,"source":"dom","extract":`+extract+
				`,"projection":{"language":"jsonata","expression":"1"}}}`), engine(t),
		)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		page := countingPage{tab, map[string]int{}, before}
		records, _, err := p.Records(t.Context(), page, projection.Limits{})
		return page.calls, records, err
	}
	none := func() {}
	const all = `[{"id":"p","selector":"p","fields":{"t":{"property":"textContent"}}}]`
	if calls, _, err := read(`[{"id":"p","selector":"p:first-of-type"}]`, none); err != nil ||
		calls["extract_plan"] != 1 || calls["extract_part"] != 0 {
		t.Errorf("a small answer: %v, %v", calls, err)
	}
	calls, records, err := read(all, none)
	if err != nil || calls["extract_plan"] != 1 || calls["extract_part"] != 2 {
		t.Errorf("three megabytes: %v, %v", calls, err)
	}
	var got struct{ P []struct{ T string } }
	if err := json.Unmarshal(records, &got); err != nil || len(got.P) != 3000 || len(got.P[2999].T) != 1000 {
		t.Errorf("three megabytes: %d records, %v", len(got.P), err)
	}
	if _, _, err := read(all, navigate); fault.CodeOf(err) != fault.PageNavigated {
		t.Errorf("a document that is replaced between two parts: %v, want %s", err, fault.PageNavigated)
	}
}
