package projection_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection"
)

func TestParseMarkers(t *testing.T) {
	const step = `"recipe":[{"primitive":"pointer.move","args":{"x":1,"y":2}}]`
	for raw, want := range map[string]string{
		`[]`: "",
		`[{"id":"a","type":"pointer",` + step + `},{"id":"b","type":"cursor","anchor":{"x":1,"y":2},"note":1,` + step +
			`}]`: "",
		`{}`:                               "",
		`1`:                                "",
		`[1]`:                              "/0",
		`[{"type":"cursor",` + step + `}]`: "/0/id",
		`[{"id":"","type":"cursor",` + step + `}]`:                                          "/0/id",
		`[{"id":"a","type":"hand",` + step + `}]`:                                           "/0/type",
		`[{"id":"a","type":"cursor"}]`:                                                      "/0/recipe",
		`[{"id":"a","type":"cursor","recipe":[]}]`:                                          "/0/recipe",
		`[{"id":"a","type":"cursor","recipe":[1]}]`:                                         "/0/recipe/0",
		`[{"id":"a","type":"cursor","recipe":[{"primitive":"browser.navigate"}]}]`:          "/0/recipe/0/primitive",
		`[{"id":"a","type":"cursor","recipe":[{"primitive":"pointer.click","args":[]}]}]`:   "/0/recipe/0/args",
		`[{"id":"a","type":"cursor",` + step + `},{"id":"a","type":"cursor",` + step + `}]`: "/1/id",
	} {
		markers, err := projection.ParseMarkers(json.RawMessage(raw))
		good := raw == `[]` || strings.HasPrefix(raw, `[{"id":"a","type":"pointer"`)
		switch {
		case good && err == nil && raw == `[]`:
		case good && (err != nil || len(markers) != 2 || markers[1].Anchor == nil ||
			string(markers[0].Recipe[0].Args) != `{"x":1,"y":2}`):
			t.Errorf("ParseMarkers(%s) = %+v, %v", raw, markers, err)
		case !good && (err == nil || err.Code != fault.InvalidStateMarkers || err.Evidence["pointer"] != want):
			t.Errorf("ParseMarkers(%s): %v at %v, want invalid_state_markers at %q", raw, err, err.Evidence, want)
		}
	}
}

// scripted answers primitives from a list.
type scripted struct {
	results []primitives.Result
	called  []string
}

func (s *scripted) Invoke(_ context.Context, name string, args json.RawMessage) primitives.Result {
	s.called = append(s.called, name+string(args))
	r := s.results[len(s.called)-1]
	r.Primitive = name
	return r
}

func TestResolveRecipe(t *testing.T) {
	ok := func(payload string) primitives.Result { return primitives.Result{Payload: json.RawMessage(payload)} }
	failed := primitives.Result{Err: fault.New(fault.TargetNotFound, "no")}
	for _, tt := range []struct {
		name    string
		anchor  *projection.Point
		results []primitives.Result
		want    *projection.Point
		code    fault.Code
		index   int
	}{
		{
			name:    "clickable centre",
			results: []primitives.Result{ok(`{"clickable_center":{"x":3,"y":4},"x":1,"y":1}`)},
			want:    &projection.Point{X: 3, Y: 4},
		},
		{
			name:    "plain point",
			results: []primitives.Result{ok(`{"x":1.5,"y":2}`)},
			want:    &projection.Point{X: 1.5, Y: 2},
		},
		{name: "the last one counts", results: []primitives.Result{
			ok(`{"x":1,"y":2}`), ok(`{"clickable_center":{"x":3,"y":4}}`), ok(`{"pressed":true}`),
		}, want: &projection.Point{X: 3, Y: 4}},
		{
			name:    "anchor",
			anchor:  &projection.Point{X: 9, Y: 8},
			results: []primitives.Result{ok(`{}`)},
			want:    &projection.Point{X: 9, Y: 8},
		},
		{name: "nowhere", results: []primitives.Result{ok(`{"clickable_center":null,"x":"1"}`)}},
		{name: "step fails", results: []primitives.Result{ok(`{}`), failed}, code: fault.TargetNotFound, index: 1},
		{
			name:    "payload reports failure",
			results: []primitives.Result{ok(`{"ok":false,"error":{"code":"payload_too_large"}}`)},
			code:    fault.PayloadTooLarge,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inv := &scripted{results: tt.results}
			m := projection.Marker{ID: "m", Type: "pointer", Anchor: tt.anchor}
			for range tt.results {
				m.Recipe = append(m.Recipe, projection.Step{
					Primitive: "locator.element_info",
					Args:      json.RawMessage(`{"locator":{}}`),
				})
			}
			got, err := projection.ResolveRecipe(t.Context(), inv, m)
			if tt.code != "" {
				if err == nil || err.Code != fault.MarkerRecipeStepFailed || err.Fields["step_index"] != tt.index ||
					err.Fields["primitive"] != "locator.element_info" ||
					!errors.Is(err.Fields["cause"].(*fault.Error), tt.code) {
					t.Errorf("got %v with %v, want marker_recipe_step_failed of %s", err, err.Fields, tt.code)
				}
				return
			}
			if err != nil || (got == nil) != (tt.want == nil) || got != nil && *got != *tt.want {
				t.Errorf("got %v, %v; want %v", got, err, tt.want)
			}
			if len(inv.called) != len(tt.results) || inv.called[0] != `locator.element_info{"locator":{}}` {
				t.Errorf("called %v", inv.called)
			}
		})
	}
	_, err := projection.ResolveRecipe(t.Context(), &scripted{}, projection.Marker{
		ID:     "m",
		Recipe: []projection.Step{{Primitive: "dom.focus"}},
	})
	if err == nil || err.Code != fault.InvalidRecipeStep {
		t.Errorf("a primitive that recipes may not use: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = projection.ResolveRecipe(ended, &scripted{}, projection.Marker{
		ID:     "m",
		Recipe: []projection.Step{{Primitive: "pointer.click"}},
	})
	if err == nil || err.Code != fault.Cancelled {
		t.Errorf("after the caller gave up: %v", err)
	}
	if err := projection.PromiseUnkept(projection.Marker{ID: "m"}); err.Code != fault.MarkerPromiseUnkept ||
		err.Fields["marker"] != "m" {
		t.Errorf("PromiseUnkept: %v", err)
	}
}

// A page that never gives its thread back costs the limit and gives a code.
func TestReadOfAPageThatHangs(t *testing.T) {
	tab := browsertest.Tab(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><b>x</b><script>onload=()=>setTimeout(()=>{for(;;);},300)</script>`)
	}))
	t.Cleanup(srv.Close)
	p, problems := projection.Compile(json.RawMessage(valid), engine(t))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := tab.Navigate(
		ctx, primitives.NavigateOptions{URL: srv.URL, LoadTimeout: 20 * time.Second},
	); err != nil {
		t.Fatal(err)
	}
	// Reads succeed until the loop begins; the first that meets it is the case.
	for {
		_, err := p.Read(ctx, tab, projection.ReadOptions{})
		if err == nil {
			continue
		}
		if err.Code != fault.StateExtractLimitExceeded || err.Evidence["limit"] != "time" ||
			err.Fields["projection"] != "site.board" {
			t.Errorf("Read: %v with %v, want state_extract_limit_exceeded of time", err, err.Evidence)
		}
		break
	}
	// The caller's own deadline keeps its code.
	short, stop := context.WithTimeout(ctx, 200*time.Millisecond)
	defer stop()
	if _, err := p.Read(short, tab, projection.ReadOptions{}); err == nil || err.Code != fault.Timeout {
		t.Errorf("Read with a short deadline: %v, want timeout", err)
	}
}

func TestReadSkipsTheStateLimitForSummaries(t *testing.T) {
	tab := browsertest.Tab(t)
	raw := strings.Replace(valid, `"expression":"records"`, `"expression":"{'t':$pad('x',500)}"`, 1)
	p, problems := projection.Compile(json.RawMessage(raw), engine(t))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if _, err := p.Read(t.Context(), tab, projection.ReadOptions{MaxBytes: 100}); err == nil ||
		err.Code != fault.StatePayloadTooLarge {
		t.Errorf("with a limit: %v", err)
	}
	s, err := p.Read(t.Context(), tab, projection.ReadOptions{MaxBytes: 100, SkipStateLimit: true})
	if err != nil || len(s.State) < 500 || s.ObservedAt.IsZero() {
		t.Errorf("without: %v, %v", s, err)
	}
}
