package primitives_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/fault"
)

// scripted is a Page whose library answers as a test says. The other methods
// are not called by what it is used for.
type scripted struct {
	primitives.Page
	calls  []scriptedCall
	answer func(c scriptedCall) (any, error)
}

type scriptedCall struct {
	frame primitives.FrameID
	fn    string
	args  map[string]any
}

func (s *scripted) Call(_ context.Context, frame primitives.FrameID, fn string, args, out any) error {
	if fn == "document_token" {
		return nil // a late call has the page probed: its thread answers
	}
	b, err := json.Marshal(args)
	if err != nil {
		return err
	}
	c := scriptedCall{frame: frame, fn: fn}
	if err := json.Unmarshal(b, &c.args); err != nil {
		return err
	}
	s.calls = append(s.calls, c)
	v, err := s.answer(c)
	if err != nil || out == nil {
		return err
	}
	b, err = json.Marshal(v)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, out)
}

func (s *scripted) ChildFrame(_ context.Context, parent primitives.FrameID, handle string) (primitives.FrameID, error) {
	return parent + "/" + primitives.FrameID(handle), nil
}

func answering(v any, err error) *scripted {
	return &scripted{answer: func(scriptedCall) (any, error) { return v, err }}
}

// An undeclared member of arguments, or of an object in them, is answered with
// the one that was likely meant there.
func TestInvalidInputNamesTheNearestMember(t *testing.T) {
	r := catalog.Standard()
	for _, c := range []struct{ name, primitive, args, message, nearest string }{
		{
			"one letter too many", "page.select", `{"ref":"e1","labels":["A"]}`,
			`/labels is not a declared member; did you mean "label"?`, "label",
		},
		{
			"in a locator", "locator.value", `{"locator":{"rolle":"button"}}`,
			`/locator/rolle is not a declared member; did you mean "role"?`, "role",
		},
		{
			"in a list", "page.wait", `{"conditions":[{"text":"a"},{"urll":"b"}]}`,
			`/conditions/1/urll is not a declared member; did you mean "url"?`, "url",
		},
		{
			"beside its own alias", "dom.observe.visible", `{"text_contains":"a","textContains":"b"}`,
			`/textContains is not a declared member; did you mean "text_contains"?`, "text_contains",
		},
		{"nothing is close", "page.select", `{"ref":"e1","zzz":["A"]}`, `/zzz is not a declared member`, ""},
		{"another problem", "page.select", `{"ref":"e1","label":7}`, `/label must be string or array`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := r.Invoke(
				t.Context(), answering(nil, errors.New("the page was asked")), c.primitive, json.RawMessage(c.args),
			)
			if fault.CodeOf(res.Err) != fault.InvalidInput || !strings.Contains(res.Err.Message+";", c.message+";") {
				t.Fatalf("%s %s: got %v, want invalid_input with %s", c.primitive, c.args, res.Err, c.message)
			}
			var e struct {
				Evidence struct {
					Errors []struct{ Nearest *string } `json:"validation_errors"`
				}
			}
			b, err := json.Marshal(res.Err)
			if err == nil {
				err = json.Unmarshal(b, &e)
			}
			if err != nil {
				t.Fatalf("%v in %s", err, b)
			}
			got := ""
			for _, v := range e.Evidence.Errors {
				if v.Nearest != nil {
					got += *v.Nearest
				}
			}
			if got != c.nearest {
				t.Errorf("%s %s: got nearest %q, want %q", c.primitive, c.args, got, c.nearest)
			}
		})
	}
}

func TestInvokeChecksArguments(t *testing.T) {
	r := catalog.Standard()
	for _, c := range []struct{ name, primitive, args, want string }{
		{"unknown primitive", "page.destroy", `{}`, "unknown_action"},
		{"not JSON", "page.info", `{`, "invalid_input  json"},
		{"two values", "page.info", `{} {}`, "invalid_input  json"},
		{"not an object", "page.info", `[1]`, "invalid_input  type"},
		{"undeclared member", "page.info", `{"x":1}`, "invalid_input /x additionalProperties"},
		{"missing member", "locator.value", `{}`, "invalid_input /locator required; missing locator"},
		{"wrong type", "locator.value", `{"locator":"#a"}`, "invalid_input /locator type"},
		{"inside the locator", "locator.value", `{"locator":{"selector":5}}`, "invalid_input /locator/selector type"},
		{
			"a locator field that nobody honours", "locator.value",
			`{"locator":{"rolle":"button"}}`, "invalid_input /locator/rolle additionalProperties",
		},
		{"unknown state", "locator.wait_for", `{"locator":{},"state":"gone"}`, "invalid_input /state enum"},
		{"negative time", "locator.wait_for", `{"locator":{},"timeout_ms":-1}`, "invalid_input /timeout_ms minimum"},
		{"huge number", "locator.wait_for", `{"locator":{},"timeout_ms":1e999}`, "invalid_input  json"},
		{
			"no fields", "browser.extract_elements",
			`{"item_selector":"li","fields":[]}`, "invalid_input /fields minItems",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			page := answering(nil, errors.New("the page was asked"))
			res := r.Invoke(t.Context(), page, c.primitive, json.RawMessage(c.args))
			if res.Err == nil {
				t.Fatalf("%s %s: succeeded with %s", c.primitive, c.args, res.Payload)
			}
			var e struct {
				Code     string
				Evidence struct {
					Errors []struct{ Path, Keyword, Message string } `json:"validation_errors"`
					Miss   []string                                  `json:"missing_required"`
				}
			}
			b, err := json.Marshal(res.Err)
			if err == nil {
				err = json.Unmarshal(b, &e)
			}
			if err != nil {
				t.Fatalf("%v in %s", err, b)
			}
			got := e.Code
			for _, v := range e.Evidence.Errors {
				got += " " + v.Path + " " + v.Keyword
				if v.Message == "" {
					t.Errorf("no message at %s", v.Path)
				}
			}
			if len(e.Evidence.Miss) > 0 {
				got += "; missing " + strings.Join(e.Evidence.Miss, ",")
			}
			if got != c.want {
				t.Errorf("%s %s:\n got %s\nwant %s", c.primitive, c.args, got, c.want)
			}
			if len(page.calls) > 0 {
				t.Errorf("%s %s: the page was asked", c.primitive, c.args)
			}
		})
	}
}

func TestInvokeNormalisesArguments(t *testing.T) {
	r := catalog.Standard()
	payload := map[string]any{"matches": []any{}, "match_count": 0}
	for _, c := range []struct{ name, args, want string }{
		{"none", ``, `{}`},
		{"null", ` null `, `{}`},
		{"routing members", `{"target_runtime_id":"r","target_url_contains":"x",` +
			`"policy_exception_report":{"kind":"generic"},"selector":"li"}`, `{"selector":"li"}`},
		{
			"camelCase", `{"textContains":"a","maxMatches":3,"maxPayloadBytes":2000}`,
			`{"max_matches":3,"max_payload_bytes":2000,"text_contains":"a"}`,
		},
		{"whole numbers", `{"max_matches":3.0}`, `{"max_matches":3}`},
		{"whole numbers with exponent", `{"max_matches":1e2}`, `{"max_matches":100}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			page := answering(payload, nil)
			res := r.Invoke(t.Context(), page, "dom.observe.visible", json.RawMessage(c.args))
			if res.Err != nil {
				t.Fatalf("%s: %v", c.args, res.Err)
			}
			got, _ := json.Marshal(page.calls[0].args)
			if string(got) != c.want {
				t.Errorf("%s:\n got %s\nwant %s", c.args, got, c.want)
			}
		})
	}
	// The snake_case name wins, and then the alias is one member too many.
	res := r.Invoke(
		t.Context(), answering(payload, nil), "dom.observe.visible",
		json.RawMessage(`{"text_contains":"a","textContains":"b"}`),
	)
	if fault.CodeOf(res.Err) != fault.InvalidInput {
		t.Errorf("both spellings: got %v, want invalid_input", res.Err)
	}
	page := answering(map[string]any{"locator": map[string]any{}, "text": ""}, nil)
	res = r.Invoke(t.Context(), page, "locator.text_content", json.RawMessage(`{"locator":{"textContains":"a"}}`))
	if res.Err != nil || page.calls[0].args["locator"].(map[string]any)["text_contains"] != "a" {
		t.Errorf("alias inside a locator: got %v with %v", res.Err, page.calls)
	}
}

func TestInvokeChecksWhatComesBack(t *testing.T) {
	good := map[string]any{"url": "u", "title": "t"}
	for _, c := range []struct {
		name   string
		answer any
		err    error
		want   fault.Code
		logged string
	}{
		{"good", good, nil, "", ""},
		{"output breaks its schema", map[string]any{"url": 5, "title": "t"}, nil, "internal", "primitive failed"},
		{"universal code", nil, fault.New(fault.DialogOpen, "a dialog is open"), fault.DialogOpen, ""},
		{"code that is not listed", nil, fault.New(fault.InvalidKey, "no such key"), fault.Internal, "does not list"},
		{"error without a code", nil, errors.New("private text"), fault.Internal, "primitive failed"},
		{"context", nil, context.DeadlineExceeded, fault.Timeout, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			r := catalog.Standard()
			r.Log = slog.New(slog.NewTextHandler(&log, nil))
			res := r.Invoke(t.Context(), answering(c.answer, c.err), "page.info", nil)
			if got := fault.CodeOf(asError(res.Err)); got != c.want {
				t.Fatalf("got %q (%v), want %q", got, res.Err, c.want)
			}
			if (res.Err == nil) == (res.Payload == nil) {
				t.Errorf("payload %s and error %v", res.Payload, res.Err)
			}
			if c.logged == "" && log.Len() > 0 || !strings.Contains(log.String(), c.logged) {
				t.Errorf("log is %q, want %q in it", log.String(), c.logged)
			}
			if b, _ := json.Marshal(res.Err); strings.Contains(string(b), "private text") {
				t.Errorf("the error carries foreign text: %s", b)
			}
		})
	}
}

func asError(e *fault.Error) error {
	if e == nil {
		return nil
	}
	return e
}

func TestInvalidOutputIsInvalidResult(t *testing.T) {
	res := catalog.Standard().Invoke(t.Context(), answering(map[string]any{"text": "x"}, nil), "dom.snapshot_text", nil)
	if fault.CodeOf(asError(res.Err)) != fault.InvalidResult {
		t.Errorf("got %v, want invalid_result", res.Err)
	}
}

func TestInvokeSurvivesAPanic(t *testing.T) {
	var log bytes.Buffer
	r := catalog.Standard()
	r.Log = slog.New(slog.NewTextHandler(&log, nil))
	page := &scripted{answer: func(scriptedCall) (any, error) { panic("boom") }}
	res := r.Invoke(t.Context(), page, "page.info", nil)
	if fault.CodeOf(asError(res.Err)) != fault.Internal || strings.Contains(res.Err.Message, "boom") {
		t.Errorf("got %v, want internal without the panic's text", res.Err)
	}
	if !strings.Contains(log.String(), "boom") {
		t.Errorf("the log does not have the panic: %s", log.String())
	}
}

func TestTheMainFrameCostsOneCall(t *testing.T) {
	for name, args := range map[string]string{
		"page.info":                `{}`,
		"locator.value":            `{"locator":{"selector":"a"}}`,
		"locator.element_info":     `{"locator":{"selector":"a"}}`,
		"locator.wait_for":         `{"locator":{"selector":"a"}}`,
		"dom.observe.visible":      `{}`,
		"dom.focus":                `{"locator":{"frame":""}}`,
		"browser.extract_elements": `{"item_selector":"a","fields":[{"name":"t"}]}`,
		"dom.list_sections":        `{"frame":null}`,
	} {
		page := answering(nil, fault.New(fault.TabClosed, "the tab is gone"))
		catalog.Standard().Invoke(t.Context(), page, name, json.RawMessage(args))
		if len(page.calls) != 1 || page.calls[0].frame != "" || page.calls[0].args["view"] != nil {
			t.Errorf("%s: asked the page %d times: %v", name, len(page.calls), page.calls)
		}
	}
}

func TestFramesAreEnteredOuterToInner(t *testing.T) {
	page := &scripted{answer: func(c scriptedCall) (any, error) {
		if c.fn == "frame_view" {
			return map[string]any{
				"handle": c.args["selector"],
				"view":   map[string]any{"x": 10, "y": 20, "sx": 1, "sy": 1},
			}, nil
		}
		return map[string]any{"locator": map[string]any{}, "text": "x"}, nil
	}}
	res := catalog.Standard().Invoke(
		t.Context(), page, "locator.text_content", json.RawMessage(`{"locator":{"frame":["outer","inner"]}}`),
	)
	if res.Err != nil {
		t.Fatal(res.Err)
	}
	var got []string
	for _, c := range page.calls {
		got = append(got, string(c.frame)+" "+c.fn)
	}
	if s := strings.Join(got, "; "); s != " frame_view; /outer frame_view; /outer/inner text_content" {
		t.Errorf("calls: %s", s)
	}
	if page.calls[1].args["view"] == nil || page.calls[2].args["view"] == nil {
		t.Errorf("the view was not passed on: %v", page.calls)
	}
}

func TestFrameErrorsNameTheLocator(t *testing.T) {
	page := answering(nil, fault.New(fault.FrameNotFound, "no frame").With("frame", "#f"))
	res := catalog.Standard().Invoke(
		t.Context(), page, "locator.text_content", json.RawMessage(`{"locator":{"selector":"a","frame":"#f"}}`),
	)
	b, _ := json.Marshal(res.Err)
	if fault.CodeOf(asError(res.Err)) != fault.FrameNotFound || !strings.Contains(string(b), `"selector":"a"`) ||
		!strings.Contains(string(b), `"frame":"#f"`) {
		t.Errorf("got %s", b)
	}
}

func TestRegistryLooksUp(t *testing.T) {
	r := catalog.Standard()
	if rec, ok := r.Lookup("page.info"); !ok || rec.Name != "page.info" {
		t.Errorf("got %v %t", rec, ok)
	}
	if _, ok := r.Lookup("page.destroy"); ok {
		t.Error("found what does not exist")
	}
	if n, m := len(r.Names()), len(r.Records()); n != m || n == 0 {
		t.Errorf("%d names, %d records", n, m)
	}
}
