package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

// badInputPage has everything that goes wrong on a page.
const badInputPage = `<!doctype html><title>Bad input</title>
<style>button { display: block; width: 200px; height: 40px }</style>
<p>text</p><button id="alert" onclick="alert('look')">alert</button><input id="date" type="date">`

// workflowMap is a map with one workflow of one step.
func workflowMap(step string) string {
	return `{"protocol":"actions.json","version":1,"tools":[{"name":"a.b","description":"d",` +
		`"input_schema":{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false},` +
		`"workflow":{"version":1,"expression_language":"jsonata","steps":[` + step + `]}}]}`
}

func siteCall(id, mapJSON, args string) string {
	return `{"type":"site_action_call","call_id":"` + id + `","runtime_id":"$RT","action":"a.b","arguments":` + args +
		`,"map_path":"x/actions.json","map":` + mapJSON + `}`
}

// TestBadInput sends what a broken or hostile peer, map or page may send to one
// runtime over stdio: each gets its code, the answer names the place, and the
// process continues.
func TestBadInput(t *testing.T) {
	requireBrowser(t)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, badInputPage)
	}))
	t.Cleanup(page.Close)
	peer := startStdio(t, "--open", page.URL)
	good := `{"id":"s","primitive":"page.info"}`
	for _, c := range []struct {
		name  string
		frame string // $RT is the runtime's id
		code  string
		place string // must stand in the answer
	}{
		{"frame: not JSON", `{"type":`, "invalid_frame", `"offset"`},
		{"frame: an array", `[]`, "invalid_frame", ""},
		{"frame: no type", `{"call_id":"1"}`, "invalid_frame", ""},
		{"frame: unknown type", `{"type":"action_cll","call_id":"2"}`, "unknown_item_type", "action_cll"},
		{"frame: call without name", `{"type":"action_call","call_id":"3","arguments":{}}`, "invalid_input", "name"},
		{
			"frame: arguments are an array",
			`{"type":"action_call","call_id":"4","name":"page.info","arguments":[]}`, "invalid_input", "arguments",
		},
		{
			"frame: call_id is a number",
			`{"type":"action_call","call_id":5,"name":"page.info","arguments":{}}`, "invalid_frame", "/call_id",
		},
		{
			"routing: unknown runtime",
			`{"type":"action_call","call_id":"6","runtime_id":"gone","name":"page.info","arguments":{}}`,
			"runtime_not_found", "gone",
		},

		{
			"call: unknown name", `{"type":"action_call","call_id":"10","name":"page.infos","arguments":{}}`,
			"unknown_action", "page.info",
		},
		{
			"call: missing argument", `{"type":"action_call","call_id":"11","name":"locator.value","arguments":{}}`,
			"invalid_input", "locator",
		},
		{
			"call: wrong type",
			`{"type":"action_call","call_id":"12","name":"locator.value","arguments":{"locator":{"selector":5}}}`,
			"invalid_input", "/locator/selector",
		},
		{
			"call: unknown argument",
			`{"type":"action_call","call_id":"13","name":"page.info","arguments":{"deep":true}}`,
			"invalid_input", "deep",
		},
		{
			"call: no coordinates",
			`{"type":"action_call","call_id":"14","name":"pointer.click","arguments":{"x":null,"y":3}}`,
			"missing_coordinates", "",
		},
		{
			"call: outside the viewport",
			`{"type":"action_call","call_id":"15","name":"pointer.click","arguments":{"x":1e9,"y":3}}`,
			"point_out_of_viewport", "viewport",
		},
		{"call: selector does not parse", `{"type":"action_call","call_id":"16","name":"locator.element_info",` +
			`"arguments":{"locator":{"selector":"p[["}}}`, "invalid_selector", "p[["},
		{"call: blank selector", `{"type":"action_call","call_id":"17","name":"locator.element_info",` +
			`"arguments":{"locator":{"selector":" "}}}`, "invalid_selector", ""},
		{"call: nothing matches", `{"type":"action_call","call_id":"18","name":"locator.element_info",` +
			`"arguments":{"locator":{"selector":"#none"}}}`, "target_not_found", "#none"},
		{"call: no such frame", `{"type":"action_call","call_id":"19","name":"locator.element_info",` +
			`"arguments":{"locator":{"selector":"p","frame":"#none"}}}`, "frame_not_found", "#none"},
		{
			"call: unknown key",
			`{"type":"action_call","call_id":"20","name":"keyboard.press","arguments":{"key":"Entr"}}`,
			"invalid_key", "Enter",
		},
		{"call: unknown wait state", `{"type":"action_call","call_id":"21","name":"locator.wait_for",` +
			`"arguments":{"locator":{"selector":"p"},"state":"gone"}}`, "invalid_input", "state"},
		{
			"call: a file address",
			`{"type":"action_call","call_id":"22","name":"browser.navigate","arguments":{"url":"file:///etc/passwd"}}`,
			"permission_denied", "",
		},
		{
			"call: no dialog",
			`{"type":"action_call","call_id":"23","name":"browser.dismiss_dialog","arguments":{}}`, "no_dialog", "",
		},
		{"call: out of time", `{"type":"action_call","call_id":"24","name":"locator.wait_for",` +
			`"arguments":{"locator":{"selector":"#none"},"timeout_ms":9000},"timeout_ms":200}`,
			"handler_timeout", "elapsed_ms"},
		{"call: its own timeout", `{"type":"action_call","call_id":"25","name":"locator.wait_for",` +
			`"arguments":{"locator":{"selector":"#none"},"timeout_ms":50}}`, "timeout", "#none"},

		{
			"site: no mode", `{"type":"action_call","call_id":"30","name":"actions.site","arguments":{}}`,
			"invalid_input", "mode",
		},
		{
			"site: unknown mode",
			`{"type":"action_call","call_id":"31","name":"actions.site","arguments":{"mode":"run"}}`,
			"invalid_input", "/mode",
		},
		{
			"site: no action",
			`{"type":"action_call","call_id":"32","name":"actions.site","arguments":{"mode":"call"}}`,
			"invalid_input", "action",
		},
		{
			"site: unknown action",
			`{"type":"action_call","call_id":"33","name":"actions.site","arguments":{"mode":"call","action":"x.y"}}`,
			"unknown_action", "x.y",
		},

		{"map: not an object", siteCall("40", `[]`, `{}`), "invalid_", ""},
		{"map: no protocol", siteCall("41", `{"version":1,"tools":[]}`, `{}`), "invalid_manifest", "/protocol"},
		{
			"map: version", siteCall("42", `{"protocol":"actions.json","version":2,"tools":[]}`, `{}`),
			"invalid_manifest", "/version",
		},
		{
			"map: unsafe name", siteCall("43", strings.Replace(workflowMap(good), `"a.b"`, `"a b"`, 1), `{}`),
			"invalid_manifest", "/tools/0/name",
		},
		{
			"map: unknown primitive", siteCall("44", workflowMap(`{"id":"s","primitive":"page.inf"}`), `{}`),
			"invalid_manifest", "/tools/0/workflow/steps/0/primitive",
		},
		{
			"map: unknown step field", siteCall("45", workflowMap(`{"id":"s","primitive":"page.info","arg":{}}`), `{}`),
			"invalid_manifest", "/tools/0/workflow/steps/0/arg",
		},
		{
			"map: expression does not compile",
			siteCall("46", workflowMap(`{"id":"s","primitive":"pointer.move","args":{"x":"{% 1 + %}","y":1}}`), `{}`),
			"invalid_manifest", "/tools/0/workflow/steps/0/args/x",
		},
		{"map: forbidden function", siteCall(
			"47", workflowMap(`{"id":"s","primitive":"pointer.move","args":{"x":"{% $eval('1') %}","y":1}}`), `{}`,
		), "invalid_manifest", "disallowed_expression_function"},
		{
			"map: partial slot",
			siteCall("48", workflowMap(`{"id":"s","primitive":"text.type","args":{"text":"a {% input.n %}"}}`), `{}`),
			"invalid_manifest", "partial_expression_unsupported",
		},
		{
			"map: unknown action in it",
			strings.Replace(siteCall("49", workflowMap(good), `{}`), `"action":"a.b"`, `"action":"a.c"`, 1),
			"unknown_action", "a.b",
		},
		{"map: arguments do not fit", siteCall("50", workflowMap(good), `{"n":"x"}`), "invalid_input", "/n"},
		{
			"workflow: expression never ends",
			siteCall("51", workflowMap(`{"id":"s","primitive":"pointer.move","args":{"x":"{% ($f := function($x) { `+
				`$f($x + 1) }; $f(1)) %}","y":1}}`), `{}`),
			"workflow_step_failed", "expression_limit_exceeded",
		},
		{"workflow: expression eats memory", siteCall("52", workflowMap(
			`{"id":"s","primitive":"pointer.move","args":{"x":"{% $count([1..10000].([1..10000])) %}","y":1}}`,
		), `{}`), "workflow_step_failed", `"step_id":"s"`},
		{"workflow: expression fails", siteCall(
			"53", workflowMap(`{"id":"s","primitive":"pointer.move","args":{"x":"{% 1 + 'a' %}","y":1}}`), `{}`,
		), "workflow_step_failed", "expression_evaluation_failed"},
		{
			"workflow: loop over no array",
			siteCall("54", workflowMap(`{"id":"s","primitive":"page.info","for_each":"{% 5 %}","max_items":3}`), `{}`),
			"workflow_loop_input_invalid", `"step_id":"s"`,
		},
		{
			"workflow: step arguments do not fit",
			siteCall("55", workflowMap(`{"id":"s","primitive":"locator.value","args":{"locator":7}}`), `{}`),
			"workflow_step_failed", "/locator",
		},
		{"workflow: out of time", strings.Replace(siteCall("56", workflowMap(
			`{"id":"s","primitive":"locator.wait_for","args":{"locator":{"selector":"#none"},"timeout_ms":9000}}`,
		), `{}`), `"action":`, `"timeout_ms":2000,"action":`, 1), "handler_timeout", `"step_id":"s"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			began := time.Now()
			answer := peer.ask(t, c.frame)
			var item struct {
				Type  string
				Error struct{ Code, Message string }
			}
			if err := json.Unmarshal(answer, &item); err != nil {
				t.Fatalf("%v in %s", err, answer)
			}
			if item.Type != "action_error" || !strings.HasPrefix(item.Error.Code, c.code) || item.Error.Message == "" {
				t.Errorf("%s\ngot  %s\nwant action_error %s", c.frame, answer, c.code)
			}
			if !bytes.Contains(answer, []byte(c.place)) {
				t.Errorf("%s\ngot  %s\nwhich does not name %q", c.frame, answer, c.place)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("answered after %s", took)
			}
		})
	}
	t.Run("a dialog opens during a call", func(t *testing.T) {
		info := peer.ask(t, `{"type":"action_call","call_id":"60","name":"locator.element_info",`+
			`"arguments":{"locator":{"selector":"#alert"}}}`)
		var out struct {
			Output struct {
				Value struct {
					Center json.RawMessage `json:"clickable_center"`
				}
			}
		}
		if err := json.Unmarshal(info, &out); err != nil || out.Output.Value.Center == nil {
			t.Fatalf("%v in %s", err, info)
		}
		for _, step := range []struct{ frame, want string }{
			{`{"type":"action_call","call_id":"61","name":"pointer.click","arguments":` +
				string(out.Output.Value.Center) + `}`, `"clicked":true`},
			{`{"type":"action_call","call_id":"62","name":"page.info","arguments":{}}`, `"code":"dialog_open"`},
			{
				`{"type":"action_call","call_id":"63","name":"browser.dismiss_dialog","arguments":{}}`,
				`"dismissed":true`,
			},
		} {
			if got := peer.ask(t, step.frame); !bytes.Contains(got, []byte(step.want)) {
				t.Errorf("%s\ngot  %s\nwant %s in it", step.frame, got, step.want)
			}
		}
	})
	t.Run("the process continues", func(t *testing.T) {
		if got := peer.ask(
			t, `{"type":"action_call","call_id":"70","name":"page.info","arguments":{}}`,
		); !bytes.Contains(got, []byte(`"title":"Bad input"`)) {
			t.Errorf("got %s", got)
		}
	})
	if code, stderr := peer.close(t); code != exitDone || strings.Contains(stderr, "panic") {
		t.Errorf("exit %d, stderr:\n%s", code, stderr)
	}
}

// stdioPeer is the bridge's side of `outrider connect stdio:`.
type stdioPeer struct {
	runtimeID string
	stdin     *io.PipeWriter
	lines     chan []byte
	exit      chan int
	stderr    *bytes.Buffer
}

func startStdio(t *testing.T, args ...string) *stdioPeer {
	t.Helper()
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	p := &stdioPeer{stdin: stdin, lines: make(chan []byte, 100), exit: make(chan int, 1), stderr: &bytes.Buffer{}}
	ctx, cancel := running(t)
	t.Cleanup(cancel)
	t.Chdir(t.TempDir())
	os.Unsetenv("OUTRIDER_PROFILE")
	go func() {
		code := execute(ctx, append([]string{"connect", "stdio:"}, args...), in, out, p.stderr)
		out.Close()
		p.exit <- code
	}()
	go func() {
		defer close(p.lines)
		r := bufio.NewReader(stdout)
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			p.lines <- line
		}
	}()
	var ready struct {
		Type      string
		RuntimeID string `json:"runtime_id"`
	}
	if err := json.Unmarshal(p.next(t), &ready); err != nil || ready.Type != "runtime_ready" {
		t.Fatalf("the first item is %+v (%v), want runtime_ready", ready, err)
	}
	p.runtimeID = ready.RuntimeID
	return p
}

// next returns the next item that is not a report about the runtime.
func (p *stdioPeer) next(t *testing.T) []byte {
	t.Helper()
	select {
	case line, ok := <-p.lines:
		if !ok {
			t.Fatalf("the runtime ended; stderr:\n%s", p.stderr)
		}
		return line
	case <-time.After(60 * time.Second):
		t.Fatal("no item within 60 s")
		return nil
	}
}

func (p *stdioPeer) ask(t *testing.T, frame string) []byte {
	t.Helper()
	if _, err := io.WriteString(p.stdin, strings.ReplaceAll(frame, "$RT", p.runtimeID)+"\n"); err != nil {
		t.Fatal(err)
	}
	for {
		line := p.next(t)
		if !bytes.Contains(line, []byte(`"type":"runtime_`)) &&
			!bytes.Contains(line, []byte(`"type":"action_progress"`)) {
			return line
		}
	}
}

func (p *stdioPeer) close(t *testing.T) (int, string) {
	t.Helper()
	p.stdin.Close()
	select {
	case code := <-p.exit:
		return code, p.stderr.String()
	case <-time.After(time.Minute):
		t.Fatal("the process did not end with its input")
		return 0, ""
	}
}
