package browser_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives/catalog"
)

func TestEffects(t *testing.T) {
	origin := servePages(t)
	registry := catalog.Standard()
	// A request to this process and the document that comes of it have their time; what is quiet ends the window.
	click := func(selector string) (string, string) {
		window := "true"
		if selector == "#asks" || selector == "#leave" {
			window = `{"window_ms":5000}`
		}
		return "pointer.click", fmt.Sprintf(`{"locator":{"selector":%q},"effects":%s}`, selector, window)
	}
	for _, c := range []struct {
		name            string
		primitive, args string
		want            string // subset of the report
	}{
		{
			name: "#grow",
			want: `{"observed":true,"dom":{"added":3,"removed":0},"requests":{"$absent":true},"url":{"$absent":true}}`,
		},
		{name: "#asks", want: `{"requests":{"started":1,"pending":0,"first":[{"method":"GET","type":"fetch",` +
			`"status":200}]},"dom":{"attributes":1}}`},
		{name: "#warn", want: `{"dialog":{"type":"alert","open":true},"unseen":["documents behind a dialog or gone"]}`},
		{name: "#hash", want: `{"url":{"new_document":false,"to":{"$regex":"#there$"}}}`},
		{
			name: "#leave",
			want: `{"url":{"new_document":true,"from":{"$regex":"act.html$"},"to":{"$regex":"next.html$"}}}`,
		},
		{name: "#tab", want: `{"tabs":{"$length":1}}`},
		{name: "#late", want: `{"dom":{"$absent":true}}`},
		{name: "focus", primitive: "dom.focus", args: `{"locator":{"selector":"#field"},"effects":true}`,
			want: `{"summary":"focus","focus":{"from":null,"to":{"tag_name":"input","id":"field","role":"textbox",` +
				`"name":"Name"}}}`},
		{name: "value", primitive: "text.insert", args: `{"target":{"selector":"#field"},"text":"Ada","effects":true}`,
			want: `{"values":[{"length":3,"target":{"id":"field","name":"Name"}}]}`},
		{
			name:      "what is edited tells nothing of its text",
			primitive: "dom.focus",
			args:      `{"locator":{"selector":"#title"},"effects":true}`,
			want:      `{"focus":{"to":{"tag_name":"h2","id":"title","role":"heading","name":""}}}`,
		},
		{
			name:      "none",
			primitive: "pointer.click",
			args:      `{"x":700,"y":600,"effects":{"window_ms":5000}}`,
			want:      `{"observed":false,"summary":"none observed","window_ms":{"$lt":4000}}`,
		},
		{
			name:      "no longer than the caller's own time allows",
			primitive: "pointer.click",
			args:      `{"locator":{"selector":"#restless"},"timeout_ms":0,"effects":true}`,
			want:      `{"observed":true,"window_ms":{"$lt":290}}`,
		},
		{
			name:      "in a frame",
			primitive: "pointer.click",
			args:      `{"x":40,"y":320,"effects":true}`,
			want:      `{"dom":{"added":1},"focus":{"to":{"role":"button"}}}`,
		},
		{
			name:      "after a failure",
			primitive: "pointer.click",
			args:      `{"locator":{"selector":"#none"},"timeout_ms":0,"effects":true}`,
			want:      `{"observed":false}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			tab := browsertest.Tab(t)
			open(t, tab, origin+"/effects/act.html")
			// The picture of the page is quiet before the action.
			if err := tab.NetworkQuiet(within(t, 10*time.Second), 50*time.Millisecond, 0); err != nil {
				t.Fatal(err)
			}
			name, args := c.primitive, c.args
			if name == "" {
				name, args = click(c.name)
			}
			r := registry.Invoke(within(t, 20*time.Second), tab, name, json.RawMessage(args))
			if (r.Err != nil) != (c.name == "after a failure") {
				t.Fatal(r.Err)
			}
			var want, got any
			if err := json.Unmarshal([]byte(c.want), &want); err != nil {
				t.Fatal(err)
			}
			var envelope struct {
				Effects json.RawMessage `json:"effects"`
			}
			if err := json.Unmarshal(r.Envelope(), &envelope); err != nil {
				t.Fatalf("the envelope does not decode: %v\n%s", err, r.Envelope())
			}
			if err := json.Unmarshal(envelope.Effects, &got); err != nil {
				t.Fatalf("the envelope has no effects: %v\n%s", err, r.Envelope())
			}
			if diff := subset("effects", want, got); diff != "" {
				t.Errorf("%s\n\tin %s", diff, r.Effects)
			}
		})
	}
}

// A document that has said what followed takes it back when the same action waits on: what came before and after stands
// in one answer, and nothing of it is told again.
func TestAnAnswerOfADocumentIsTakenBack(t *testing.T) {
	tab := browsertest.Tab(t)
	ctx := within(t, 30*time.Second)
	open(t, tab, `data:text/html,<p>Page</p>`)
	type answer struct {
		Known bool     `json:"known"`
		Texts []string `json:"texts"`
		DOM   struct{ Added, Removed int }
	}
	ask := func(query string, args map[string]any) (out answer) {
		t.Helper()
		args["id"] = "e1"
		if err := tab.Call(ctx, "", query, args, &out); err != nil {
			t.Fatal(query, err)
		}
		return out
	}
	add := func(text string) {
		t.Helper()
		script := `(document.body.append(Object.assign(document.createElement('p'), {textContent: '` + text + `'})), 1)`
		if _, err := tab.Eval(ctx, "", script); err != nil {
			t.Fatal(err)
		}
	}
	quiet := map[string]any{"quiet_ms": 1, "none_ms": 1, "timeout_ms": 300, "moving_ms": 0, "answer": true}
	ask("effects_begin", map[string]any{"keep": true})
	add("first")
	if got := ask("effects_quiet", quiet); !got.Known || len(got.Texts) != 1 {
		t.Errorf("the first answer is %+v", got)
	}
	add("second")
	if got := ask("effects_quiet", quiet); len(got.Texts) != 2 || got.DOM.Added != 2 {
		t.Errorf("the second answer is %+v: expected both texts", got)
	}
	add("third")
	if got := ask("effects_end", map[string]any{"keep": true}); len(got.Texts) != 3 || got.DOM.Added != 3 {
		t.Errorf("the last answer is %+v: expected three texts", got)
	}
	add("fourth")
	if got := ask("effects_later", map[string]any{}); len(got.Texts) != 1 || got.Texts[0] != "fourth" {
		t.Errorf("later came %+v: expected the fourth text", got)
	}
}
