package runtime_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/runtime"
)

// TestQuirkSwallowedStepFailure covers the whole way, from map to page: a step
// that finds no target must end the action, and continues only where the
// extension's behaviour is chosen (pitfall 45).
func TestQuirkSwallowedStepFailure(t *testing.T) {
	url := serve(t, map[string]string{"/a": `<button onclick="this.textContent='pressed'">Go</button>`})
	const manifest = `{"protocol":"actions.json","version":1,"tools":[{"name":"go","description":"press what is not there, then what is",
		"input_schema":{"type":"object","additionalProperties":false},
		"workflow":{"version":1,"expression_language":"jsonata","steps":[
			{"id":"gone","primitive":"locator.element_info","args":{"locator":{"selector":"#gone"}}},
			{"id":"none","primitive":"locator.element_info","args":{"locator":"{% steps.gone.output.value.nothing %}"}},
			{"id":"find","primitive":"locator.element_info","args":{"locator":{"text":"Go"}}},
			{"id":"press","primitive":"pointer.click","args":{"x":"{% steps.find.output.clickable_center.x %}","y":"{% steps.find.output.clickable_center.y %}"}}],
			"output":{"gone":"{% steps.gone.ok %}","code":"{% steps.gone.output.error.code %}","none":"{% steps.none.ok %}"}}}]}`
	for _, c := range []struct {
		name, text string
		set        quirks.Set
		code       fault.Code
		steps      int
	}{
		{"strict", "Go", quirks.Set{}, fault.WorkflowStepFailed, 1},
		{"extension", "pressed", quirks.Extension(), "", 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := open(t, runtime.Options{Open: []string{url + "/a"}, Maps: mapsOf(t, manifest), Quirks: c.set})
			r := do(t, h, "actions.site", `{"mode":"call","action":"go"}`, 10*time.Second)
			if got := fault.CodeOf(r.Err); got != c.code {
				t.Fatalf("got %v, want code %q", r.Err, c.code)
			}
			var steps []any
			if err := json.Unmarshal(r.Steps, &steps); err != nil || len(steps) != c.steps {
				t.Errorf("got steps %s (%v), want %d", r.Steps, err, c.steps)
			}
			if r.Err == nil {
				if v := value(t, r); v["gone"] != true || v["code"] != "target_not_found" || v["none"] != true {
					t.Errorf("got %v, want the failure as the output of a step that counts as ok", v)
				}
			}
			got := value(t, do(t, h, "locator.text_content", `{"locator":{"selector":"button"}}`, 5*time.Second))
			if got["text"] != c.text {
				t.Errorf("the button says %v, want %q", got["text"], c.text)
			}
		})
	}
}

// TestQuirkDocumentSession: tasks and the pace end with the document in the extension. Issue 16.
func TestQuirkDocumentSession(t *testing.T) {
	url := serve(t, map[string]string{"/a": `<p>a`, "/b": `<p>b`})
	for _, c := range []struct {
		name  string
		set   quirks.Set
		total float64
		waits bool
	}{
		{"strict", quirks.Set{}, 1, false},
		{"extension", quirks.Of(quirks.DocumentSession, quirks.DefaultPacing), 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := open(t, runtime.Options{Open: []string{url + "/a"}, Quirks: c.set})
			value(t, do(t, h, "runtime.configure_pacing", `{"min_interval_ms":0}`, 5*time.Second))
			value(t, do(t, h, "task.add", `{"text":"one"}`, 5*time.Second))
			value(t, do(t, h, "browser.navigate", `{"url":"`+url+`/b"}`, 10*time.Second))
			if got := value(t, do(t, h, "task.list", `{}`, 5*time.Second)); got["total"] != c.total {
				t.Errorf("%v tasks are left, want %v", got["total"], c.total)
			}
			value(t, do(t, h, "pointer.move", `{"x":1,"y":1}`, 5*time.Second))
			moved := value(t, do(t, h, "pointer.move", `{"x":2,"y":1}`, 5*time.Second))
			if waited, _ := moved["rate_limit_wait_ms"].(float64); (waited > 0) != c.waits {
				t.Errorf("the second movement waited %v ms, want a wait: %v", waited, c.waits)
			}
		})
	}
}

// TestQuirkSubsetSchema: integer is a type to a JSON Schema, and to the
// extension one that no value has.
func TestQuirkSubsetSchema(t *testing.T) {
	url := serve(t, map[string]string{"/a": `<p>1`})
	manifest := func(schema string) string {
		return `{"protocol":"actions.json","version":1,"tools":[],"state_projections":[{"name":"n","snapshot":{"version":1,"source":"dom",
			"extract":[{"id":"p","selector":"p"}],
			"projection":{"language":"jsonata","expression":"{\"n\":$count(p)+1}"},"output_schema":` +
			schema + `}}]}`
	}
	for _, c := range []struct {
		name, schema      string
		strict, extension fault.Code
	}{
		{"integer", `{"type":"object","properties":{"n":{"type":"integer"}}}`, "", fault.StateSchemaValidationFailed},
		{"number", `{"type":"object","required":["n"],"properties":{"n":{"type":["null","number"]}}}`, "", ""},
		{
			"a keyword of JSON Schema", `{"type":"object","properties":{"n":{"type":"number","minimum":100}}}`,
			fault.StateSchemaValidationFailed, "",
		},
		{
			"required", `{"type":"object","required":["m"]}`,
			fault.StateSchemaValidationFailed, fault.StateSchemaValidationFailed,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, profile := range []struct {
				set  quirks.Set
				want fault.Code
			}{{quirks.Set{}, c.strict}, {quirks.Of(quirks.SubsetSchema), c.extension}} {
				h := open(t, runtime.Options{
					Open:   []string{url + "/a"},
					Maps:   mapsOf(t, manifest(c.schema)),
					Quirks: profile.set,
				})
				r := do(t, h, "actions.site", `{"mode":"state_read","projection_name":"n"}`, 10*time.Second)
				if got := fault.CodeOf(r.Err); got != profile.want {
					t.Errorf("quirks %v: got %v, want code %q", profile.set.Names(), r.Err, profile.want)
				}
			}
		})
	}
}

// TestQuirkFallbackActs: a fallback whose element is not called what the target says is acted on by the
// extension alone.
func TestQuirkFallbackActs(t *testing.T) {
	url := serve(t, map[string]string{
		"/a": `<ol><li><button onclick="document.title='ordered'">Crimping tool</button></ol>`,
	})
	m := `{"protocol":"actions.json","version":1,"tools":[{"name":"shop.order","description":"d","input_schema":{"type":"object"},
		"x_actions":{"execution":{"mode":"steps_only","steps":[{"type":"click","timeout_ms":%d,
		"target":{"role":"link","name":"Label printer","fallback_selectors":["ol button"]}}]}}}]}`
	for _, c := range []struct {
		set    quirks.Set
		stepMS int // the strict profile waits all of it for the link
		want   fault.Code
	}{
		{quirks.Set{}, 300, fault.DriftDetected},
		{quirks.Of(quirks.FallbackActs), 8000, ""},
	} {
		maps := mapsOf(t, fmt.Sprintf(m, c.stepMS))
		h := open(t, runtime.Options{Open: []string{url + "/a"}, Maps: maps, Quirks: c.set})
		r := do(t, h, "actions.site", `{"mode":"call","action":"shop.order","arguments":{}}`, 10*time.Second)
		if got := fault.CodeOf(r.Err); got != c.want {
			t.Errorf("quirks %v: got %v, want code %q", c.set.Names(), r.Err, c.want)
		}
	}
}

// TestQuirkDefaultPacing: how far apart actions begin by default; that
// they are delayed then is shown by the pages of runtime.configure_pacing.
func TestQuirkDefaultPacing(t *testing.T) {
	for _, c := range []struct {
		name  string
		set   quirks.Set
		given *time.Duration
		want  time.Duration
	}{
		{"strict", quirks.Set{}, nil, 0},
		{"strict, one given", quirks.Set{}, new(time.Second), time.Second},
		{"extension", quirks.Of(quirks.DefaultPacing), nil, 500 * time.Millisecond},
		{"extension, another one given", quirks.Of(quirks.DefaultPacing), new(time.Second), time.Second},
		{"extension, none given", quirks.Of(quirks.DefaultPacing), new(time.Duration(0)), 0},
	} {
		h := open(t, runtime.Options{Quirks: c.set, Pacing: c.given})
		if got := h.PacingOfNewTabs(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// TestQuirkMapsAsTheyCome: a map as they are published, with a text for its
// version and declarations that cannot work. Issue 16.
func TestQuirkMapsAsTheyCome(t *testing.T) {
	url := serve(t, map[string]string{"/a": `<title>A</title><p>x</p>`})
	const manifest = `{"protocol":"actions.json","version":"0.1.0-working",
		"requires":{"primitive_dictionary":{"required_primitives":["no.such.primitive"],"blocked_primitives":["page.info"]}},
		"tools":[
			{"name":"good","description":"d","input_schema":{"type":"object"},"x_actions":{"handler":"page.info"}},
			{"name":"bad","description":"d","input_schema":{"type":"object"},
				"workflow":{"version":1,"expression_language":"jsonata","steps":[{"id":"s","primitive":"no.such.primitive"}]}}],
		"state_projections":[{"name":"broken","snapshot":{"version":1,"source":"html","extract":[],"projection":{"language":"jsonata","expression":"{}"}}}]}`
	for _, c := range []struct {
		name                         string
		set                          quirks.Set
		wantGood, wantBad, wantState fault.Code
	}{
		{"strict", quirks.Set{}, fault.InvalidManifest, fault.InvalidManifest, fault.InvalidManifest},
		{"extension", quirks.Extension(), "", fault.InvalidWorkflow, fault.InvalidStateProjection},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := open(t, runtime.Options{Open: []string{url + "/a"}, Quirks: c.set})
			supplied := func(arguments string) *fault.Error {
				return h.Do(t.Context(), runtime.Call{
					ID:        "c",
					Name:      runtime.SiteTool,
					Arguments: json.RawMessage(arguments),
					Timeout:   10 * time.Second,
					Target:    first(t, h),
					Map: &runtime.SuppliedMap{
						Path: "shared/x/sites/127.0.0.1/m/actions.json",
						JSON: json.RawMessage(manifest),
					},
				}).Err
			}
			for arguments, want := range map[string]fault.Code{
				`{"mode":"call","action":"good"}`:                  c.wantGood,
				`{"mode":"call","action":"bad"}`:                   c.wantBad,
				`{"mode":"state_read","projection_name":"broken"}`: c.wantState,
			} {
				if err := supplied(arguments); fault.CodeOf(err) != want {
					t.Errorf("%s: got %v, want code %q", arguments, err, want)
				}
			}
		})
	}
}

// TestQuirkSiteActionsBeside: whether the tab waits for a site action that its
// caller may have given up on. Issue 16.
func TestQuirkSiteActionsBeside(t *testing.T) {
	url := serve(t, map[string]string{"/a": `<p>x</p>`})
	const manifest = `{"protocol":"actions.json","version":1,"tools":[{"name":"slow","description":"waits","input_schema":{"type":"object"},
		"workflow":{"version":1,"expression_language":"jsonata","steps":[
			{"id":"wait","primitive":"locator.wait_for","args":{"locator":{"selector":"#never"},"timeout_ms":1500}}]}}]}`
	for _, c := range []struct {
		name  string
		set   quirks.Set
		first string
	}{
		{"strict", quirks.Set{}, "slow"},
		{"extension", quirks.Of(quirks.SiteActionsBeside), "page.info"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := open(t, runtime.Options{Open: []string{url + "/a"}, Maps: mapsOf(t, manifest), Quirks: c.set})
			order := make(chan string, 2)
			started := make(chan struct{}, 10)
			for _, name := range []string{"slow", "page.info"} {
				h.Accept(runtime.Call{
					ID:       name,
					Name:     name,
					Target:   first(t, h),
					Timeout:  10 * time.Second,
					Progress: func(runtime.Progress) { started <- struct{}{} },
				},
					func(runtime.Reply) { order <- name })
				if name == "slow" {
					<-started
				}
			}
			if got := <-order; got != c.first {
				t.Errorf("%s was answered first, want %s", got, c.first)
			}
			<-order
		})
	}
}

// TestQuirkUpstreamAnswers: what a bridge gets of a primitive that ran and failed,
// the name of the adapter, the form of trusted keys, and whether max_bytes lets an expression give more.
func TestQuirkUpstreamAnswers(t *testing.T) {
	url := serve(t, map[string]string{"/a": `<input autofocus>`})
	for _, c := range []struct {
		set                     quirks.Set
		adapter, missing, press string
		wide                    fault.Code
	}{
		{quirks.Set{}, "cdp", "", `{"ok":true,"primitive":"keyboard.press"`, ""},
		{
			quirks.Of(quirks.UpstreamAnswers), "extension",
			`{"ok":false,"primitive":"locator.element_info","adapter":"extension","error":{"code":"target_not_found"`,
			`{"pressed":true`, fault.ExpressionOutputTooLarge,
		},
	} {
		t.Run(c.adapter, func(t *testing.T) {
			h := open(t, runtime.Options{Open: []string{url + "/a"}, Quirks: c.set, Maps: mapsOf(t, mapOf(nil, []string{
				`{"name":"wide","snapshot":{"version":1,"source":"dom","extract":[],` +
					`"projection":{"language":"jsonata","expression":"$pad('x', 40000)"}}}`}))})
			do := func(name, args string) runtime.Reply {
				return h.Do(t.Context(), runtime.Call{
					ID:        name,
					Name:      name,
					Target:    first(t, h),
					Arguments: json.RawMessage(args),
					Timeout:   10 * time.Second,
				})
			}
			if got := do(
				runtime.SiteTool, `{"mode":"state_read","projection_name":"wide","max_bytes":50000}`,
			).Err; fault.CodeOf(got) != c.wide {
				t.Errorf("a state of 40,000 bytes: got %v, want %q", got, c.wide)
			}
			if got := string(do("page.info", `{}`).Output); !strings.HasPrefix(
				got, `{"ok":true,"primitive":"page.info","adapter":"`+c.adapter+`"`,
			) {
				t.Errorf("page.info: got %s", got)
			}
			missing := do("locator.element_info", `{"locator":{"selector":"#no"}}`)
			if missing.Err == nil || missing.Err.Code != fault.TargetNotFound ||
				missing.Err.Fields["adapter"] != c.adapter {
				t.Errorf("an element that is not there: got the error %v", missing.Err)
			}
			if got := string(missing.Answer); (got == "") != (c.missing == "") || !strings.HasPrefix(got, c.missing) {
				t.Errorf("an element that is not there: got the answer %s, want %s", got, c.missing)
			}
			if got := do("browser.run_javascript", `{"source":"throw new Error('no')"}`); got.Err == nil ||
				len(got.Answer) > 0 {
				t.Errorf("a script that throws: got %v, %s, want an error alone", got.Err, got.Answer)
			}
			if got := string(do(
				"keyboard.press", `{"key":"a","trusted":true}`,
			).Output); !strings.HasPrefix(got, c.press) {
				t.Errorf("a trusted press: got %s, want %s", got, c.press)
			}
		})
	}
}
