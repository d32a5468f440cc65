package runtime_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
)

// shelfPage is a list that a button changes at once, a second one a moment
// later, and a third one without the projection noticing.
const shelfPage = `
<style>button { width: 100px; height: 30px } li { height: 20px } body { margin: 0 }</style>
<button id=add>add</button><button id=later>later</button><button id=noise>noise</button><a id=go href="/other">other</a>
<ul><li data-id=a><b>Ant</b></li><li data-id=b><b>Bee</b></li></ul><p id=clock>0</p>
<script>
  const add = () => { const li = document.createElement('li'); li.dataset.id = 'c'; li.innerHTML = '<b>Cat</b>'; document.querySelector('ul').append(li); };
  document.querySelector('#add').onclick = add;
  document.querySelector('#later').onclick = () => setTimeout(add, 300);
  document.querySelector('#noise').onclick = () => { document.querySelector('#clock').textContent = Math.random(); };
</script>`

// shelfProjection is the projection of shelfPage; more is what stands beside
// its snapshot.
func shelfProjection(name, more string) string {
	return fmt.Sprintf(`{"name":%q,%s"snapshot":{"version":1,"source":"dom",
	  "extract":[{"id":"items","selector":"li","fields":{"id":{"attribute":"data-id","required":true},"name":{"selector":"b","trim":true}}}],
	  "projection":{"language":"jsonata","expression":"{%% {'shelf': {'items': [records.items]}} %%}"},
	  "output_schema":{"type":"object","required":["shelf"]}},
	  "summaries":[{"name":"agent_context","expression":"{%% {'count': $count(state.shelf.items)} %%}"},
	  {"name":"names","expression":"{%% [state.shelf.items.name] %%}"}]}`,
		name, more)
}

func click(id, selector string) string {
	return fmt.Sprintf(`{"id":"find_%[1]s","primitive":"locator.element_info","args":{"locator":{"selector":%[2]q}}},
	  {"id":"press_%[1]s","primitive":"pointer.click",
	  "args":{"x":"{%% steps.find_%[1]s.output.clickable_center.x %%}",
	  "y":"{%% steps.find_%[1]s.output.clickable_center.y %%}"}}`,
		id, selector)
}

func tool(name, steps, more string) string {
	return fmt.Sprintf(`{"name":%q,"description":"A test.","input_schema":{"type":"object"},
	  "workflow":{"version":1,"expression_language":"jsonata","steps":[%s],"output":"{%% {'done': true} %%}"%s}}`,
		name, steps, more)
}

func mapOf(tools, projections []string) string {
	return fmt.Sprintf(`{"protocol":"actions.json","version":1,"tools":[%s],"state_projections":[%s]}`,
		strings.Join(tools, ","), strings.Join(projections, ","))
}

// site makes one call of actions.site.
func site(t *testing.T, h *runtime.Host, args string) runtime.Reply {
	t.Helper()
	return do(t, h, runtime.SiteTool, args, 0)
}

func output(t *testing.T, r runtime.Reply) map[string]any {
	t.Helper()
	if r.Err != nil {
		t.Fatalf("the call failed: %v %v", r.Err, r.Err.Evidence)
	}
	var out map[string]any
	if err := json.Unmarshal(r.Output, &out); err != nil {
		t.Fatalf("%v in %s", err, r.Output)
	}
	return out
}

func encode(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// masked replaces what differs from run to run.
func masked(raw json.RawMessage) string {
	s := regexp.MustCompile(`djb2:[0-9a-f]+`).ReplaceAllString(string(raw), "HASH")
	return regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`).ReplaceAllString(s, "TIME")
}

const (
	twoItems   = `{"shelf":{"items":[{"id":"a","name":"Ant"},{"id":"b","name":"Bee"}]}}`
	threeItems = `{"shelf":{"items":[{"id":"a","name":"Ant"},{"id":"b","name":"Bee"},{"id":"c","name":"Cat"}]}}`
	shelfAdd   = `{"mode":"call","action":"shelf.add"}`
)

func shelf(t *testing.T, more ...string) *runtime.Host {
	t.Helper()
	url := serve(t, map[string]string{"/": shelfPage, "/other": shelfPage})
	return openMap(
		t, []string{url},
		mapOf([]string{tool("shelf.add", click("a", "#add"), ""), tool("shelf.noise", click("a", "#noise"), "")},
			append([]string{shelfProjection("shelf.items", "")}, more...)),
	)
}

// The outputs of the three modes as the wire reference has them, the order of
// their members included.
func TestStateModes(t *testing.T) {
	h := shelf(t)
	diagnostics := `{"missing_required_fields":[],"selector_counts":{"items":2},"schema_valid":true,"truncated":false}`
	for _, c := range []struct{ name, args, want string }{
		{"the first difference", `{"mode":"state_diff","projection_name":"shelf.items"}`,
			`{"ok":true,"projection":"shelf.items","baseline":"initialized","patch_format":"json_patch","patches":[],` +
				`"semantic_deltas":[],"previous_state_hash":null,"state_hash":"HASH","observed_at":"TIME"}`},
		{"the state", `{"mode":"state_read","projection_name":"shelf.items","summary_name":null,"max_bytes":null}`,
			`{"ok":true,"projection":"shelf.items","state_hash":"HASH","observed_at":"TIME","diagnostics":` +
				diagnostics + `,"state":` + twoItems + `}`},
		{"by the alias", `{"mode":"state_read","projection":"shelf.items"}`,
			`{"ok":true,"projection":"shelf.items","state_hash":"HASH","observed_at":"TIME","diagnostics":` +
				diagnostics + `,"state":` + twoItems + `}`},
		{"the summary nobody named", `{"mode":"state_summary","projection_name":"shelf.items","summary_name":null}`,
			`{"ok":true,"projection":"shelf.items","state_hash":"HASH","observed_at":"TIME","diagnostics":` +
				diagnostics + `,"summary_name":"agent_context","summary":{"count":2}}`},
		{"a named summary", `{"mode":"state_summary","projection_name":"shelf.items","summary_name":"names"}`,
			`{"ok":true,"projection":"shelf.items","state_hash":"HASH","observed_at":"TIME","diagnostics":` +
				diagnostics + `,"summary_name":"names","summary":["Ant","Bee"]}`},
		{
			"a summary of a state over its budget",
			`{"mode":"state_summary","projection_name":"shelf.items","max_bytes":10}`,
			`{"ok":true,"projection":"shelf.items","state_hash":"HASH","observed_at":"TIME","diagnostics":` +
				diagnostics + `,"summary_name":"agent_context","summary":{"count":2}}`,
		},
		{"no difference", `{"mode":"state_diff","projection_name":"shelf.items"}`,
			`{"ok":true,"projection":"shelf.items","baseline":"previous_snapshot","patch_format":"json_patch",` +
				`"patches":[],"semantic_deltas":[],"previous_state_hash":"HASH","state_hash":"HASH",` +
				`"observed_at":"TIME"}`},
	} {
		if r := site(t, h, c.args); r.Err != nil || masked(r.Output) != c.want {
			t.Errorf("%s: %s\ngot  %s %v\nwant %s", c.name, c.args, masked(r.Output), r.Err, c.want)
		}
	}
	for _, c := range []struct {
		name, args string
		code       fault.Code
		evidence   string
	}{
		{"no projection", `{"mode":"state_read"}`, fault.InvalidInput, "missing_required"},
		{
			"an unknown one", `{"mode":"state_read","projection_name":"shelf.item"}`,
			fault.StateProjectionNotFound, "known_projections",
		},
		{
			"an unknown summary", `{"mode":"state_summary","projection_name":"shelf.items","summary_name":"x"}`,
			fault.StateSummaryNotFound, "",
		},
		{
			"over the budget", `{"mode":"state_read","projection_name":"shelf.items","max_bytes":20}`,
			fault.StatePayloadTooLarge, "",
		},
		{
			"a difference over the budget", `{"mode":"state_diff","projection_name":"shelf.items","max_bytes":20}`,
			fault.StatePayloadTooLarge, "",
		},
		{
			"a baseline where none belongs",
			`{"mode":"state_read","projection_name":"shelf.items","baseline":{}}`, fault.InvalidInput, "",
		},
		{
			"a budget of nothing", `{"mode":"state_read","projection_name":"shelf.items","max_bytes":0}`,
			fault.InvalidInput, "",
		},
		{"an unknown mode", `{"mode":"markers","projection_name":"shelf.items"}`, fault.InvalidInput, ""},
	} {
		r := site(t, h, c.args)
		if fault.CodeOf(r.Err) != c.code {
			t.Errorf("%s: %s: got %v, want %s", c.name, c.args, r.Err, c.code)
		} else if c.evidence != "" && r.Err.Evidence[c.evidence] == nil {
			t.Errorf("%s: the evidence %v lacks %s", c.name, r.Err.Evidence, c.evidence)
		}
	}
}

// tablePage is a table that another page of it grows.
const tablePage = `<p></p><script>const more = () => document.body.insertAdjacentHTML('beforeend', ` +
	`Array.from({length: 1500}, (_, i) => '<i>row ' + i + ' of the table</i>').join('')); more()</script>`

// A list that is too large for one answer comes in pages of one moment.
func TestStateRows(t *testing.T) {
	url := serve(t, map[string]string{"/": tablePage})
	h := openMap(t, []string{url}, mapOf(nil, []string{`{"name":"table","snapshot":{"version":1,"source":"dom",
	  "extract":[{"id":"rows","selector":"i","fields":{"text":{"property":"textContent"}}}],
	  "projection":{"language":"jsonata","expression":"{'rows': records.rows}"}},"summaries":[{"name":"agent_context","expression":"{'rows': $count(state.rows)}"}]}`}))
	const read = `{"mode":"state_read","projection_name":"table"`
	pages := func(more string) (texts []string, calls int, hash string) {
		args := read + `,"rows":"/rows","offset":0` + more + `}`
		for {
			var page struct {
				Hash string `json:"state_hash"`
				Page struct {
					Count, Total int
					Next         *int `json:"next_offset"`
				}
				Rows []struct{ Text string }
			}
			r := site(t, h, args)
			output(t, r)
			if err := json.Unmarshal(r.Output, &page); err != nil || len(page.Rows) != page.Page.Count {
				t.Fatalf("%v in %.300s", err, r.Output)
			}
			for _, row := range page.Rows {
				texts = append(texts, row.Text)
			}
			calls++
			if calls == 1 {
				hash = page.Hash
				value(t, do(t, h, "page.evaluate", `{"body":"more()"}`, 0))
			}
			if page.Page.Next == nil {
				if page.Page.Total != len(texts) {
					t.Errorf("%d rows of %d", len(texts), page.Page.Total)
				}
				return texts, calls, hash
			}
			args = fmt.Sprintf(`%s,"rows":"/rows","offset":%d,"state_hash":%q%s}`, read, *page.Page.Next, hash, more)
		}
	}
	texts, calls, hash := pages(`,"max_bytes":20000`)
	if len(texts) != 1500 || calls != 3 || texts[1499] != "row 1499 of the table" {
		t.Errorf("%d rows in %d pages", len(texts), calls)
	}
	// All pages were handed out, and the table has grown.
	if r := site(
		t, h, read+`,"rows":"/rows","offset":5,"state_hash":"`+hash+`"}`,
	); fault.CodeOf(r.Err) != fault.StateMismatch || r.Err.NextStep == "" {
		t.Errorf("a page of a state that is not there any more: %v", r.Err)
	}
	if texts, calls, _ := pages(`,"limit":1100,"max_bytes":90000`); len(texts) != 3000 || calls != 3 {
		t.Errorf("%d rows in %d pages", len(texts), calls)
	}
	out := output(t, site(t, h, read+`,"max_bytes":400000}`))
	if len(out["state"].(map[string]any)["rows"].([]any)) != 4500 {
		t.Errorf("the whole state has %d rows", len(out["state"].(map[string]any)["rows"].([]any)))
	}
	for _, c := range []struct {
		args string
		code fault.Code
		has  string
	}{
		{read + `}`, fault.ExpressionOutputTooLarge, `"limit_bytes":32000`},
		{read + `,"limits":{"nodes":1000}}`, fault.StateExtractLimitExceeded, `"needed":9000`},
		{read + `,"limits":{"bytes":10000},"rows":"/rows"}`, fault.StateExtractLimitExceeded, `"limit":"bytes"`},
		{
			read + `,"limits":{"bytes":16777217}}`, fault.InvalidInput,
			`"most":{"bytes":16777216,"nodes":1048576,"time_ms":10000}`,
		},
		{read + `,"rows":"/row"}`, fault.InvalidInput, `/rows (4500)`},
		{read + `,"rows":"/rows","max_bytes":5}`, fault.StatePayloadTooLarge, `"limit_bytes":5`},
		{read + `,"offset":5}`, fault.InvalidInput, ""},
		{read + `,"rows":"/rows","offset":-1}`, fault.InvalidInput, ""},
		{`{"mode":"state_diff","projection_name":"table","rows":"/rows"}`, fault.InvalidInput, `"mode":"state_diff"`},
	} {
		r := site(t, h, c.args)
		if fault.CodeOf(r.Err) != c.code {
			t.Errorf("%s: %v", c.args, r.Err)
		} else if evidence := encode(t, r.Err.Evidence); !strings.Contains(evidence, c.has) {
			t.Errorf("%s: the evidence is %s", c.args, evidence)
		}
	}
	// A summary counts within limits that the call gives.
	summary := output(t, site(
		t, h,
		`{"mode":"state_summary","projection_name":"table","limits":{"nodes":500000,"bytes":16000000,"time_ms":5000}}`,
	))
	if encode(t, summary["summary"]) != `{"rows":4500}` {
		t.Errorf("the summary is %v", summary["summary"])
	}
}

// What the operator allows holds for every read, whoever asks for it.
func TestStatesAreReadWithinTheOperatorsLimits(t *testing.T) {
	url := serve(t, map[string]string{"/": tablePage})
	h := open(t, runtime.Options{
		Open:   []string{url},
		Limits: runtime.Limits{StateBytes: 1600},
		Maps: mapsOf(t, mapOf(nil, []string{`{"name":"table","snapshot":{"version":1,"source":"dom",
	  "extract":[{"id":"rows","selector":"i"}],"projection":{"language":"jsonata","expression":"$count(records.rows)"}},
	  "summaries":[{"name":"agent_context","expression":"state"}]}`})),
	})
	for _, args := range []string{
		`"state_read"`, `"state_read","rows":""`, `"state_summary"`, `"state_diff"`, `"state_watch"`,
	} {
		r := site(t, h, `{"projection_name":"table","mode":`+args+`}`)
		if fault.CodeOf(r.Err) != fault.StateExtractLimitExceeded ||
			!strings.Contains(encode(t, r.Err.Evidence), `"max":100,"needed":1500`) {
			t.Errorf("%s: %v", args, r.Err)
		}
	}
}

// A difference is what happened since the tab was last read in full, whatever
// happened to the tab meanwhile; summaries do not count, and a baseline of the
// caller comes first.
func TestStateDiffComparesWithTheLastFullRead(t *testing.T) {
	h := shelf(t)
	diff := func(more string) map[string]any {
		return output(t, site(t, h, `{"mode":"state_diff","projection_name":"shelf.items"`+more+`}`))
	}
	added := `[{"op":"add","path":"/shelf/items/2","value":{"id":"c","name":"Cat"}}]`
	output(t, site(t, h, `{"mode":"state_read","projection_name":"shelf.items"}`))
	output(t, site(t, h, shelfAdd))
	output(t, site(t, h, `{"mode":"state_summary","projection_name":"shelf.items"}`))
	got := diff("")
	if encode(t, got["patches"]) != added || got["baseline"] != "previous_snapshot" {
		t.Errorf("after an addition: %v", got)
	}
	delta := encode(t, got["semantic_deltas"])
	if !strings.Contains(delta, `"type":"entity_added"`) || !strings.Contains(delta, `"kind":"item"`) {
		t.Errorf("semantic deltas: %s", delta)
	}
	if got := diff(""); encode(t, got["patches"]) != `[]` {
		t.Errorf("a second time: %v", got)
	}
	got = diff(`,"baseline":` + twoItems)
	if encode(t, got["patches"]) != added || got["baseline"] != "caller" ||
		got["previous_state_hash"] == got["state_hash"] {
		t.Errorf("against a baseline: %v", got)
	}
	got = diff(`,"baseline":` + threeItems)
	if encode(t, got["patches"]) != `[]` || got["previous_state_hash"] != got["state_hash"] {
		t.Errorf("against the same state: %v", got)
	}
	tabs := h.Tabs()
	value(t, do(t, h, "browser.navigate", `{"url":"`+tabs[0].URL+`other"}`, 0))
	got = diff("")
	if encode(t, got["patches"]) != `[{"op":"remove","path":"/shelf/items/2"}]` ||
		got["baseline"] != "previous_snapshot" {
		t.Errorf("after a navigation: %v", got)
	}
}

// state_projection_call brings the declaration with it.
func TestStateOfASuppliedProjection(t *testing.T) {
	url := serve(t, map[string]string{"/": shelfPage})
	h := open(t, runtime.Options{Open: []string{url}})
	call := runtime.Call{
		ID:        newID(),
		Target:    first(t, h),
		Name:      runtime.SiteTool,
		Arguments: json.RawMessage(`{"mode":"state_read","projection_name":"shelf.items"}`),
		Map: &runtime.SuppliedMap{Path: "shared/sites/127.0.0.1/actions.json", JSON: json.RawMessage(
			`{"protocol":"actions.json","version":1,"tools":[],"state_projections":[` +
				shelfProjection("shelf.items", "") + `]}`)},
	}
	if got := output(t, h.Do(t.Context(), call)); encode(t, got["state"]) != twoItems {
		t.Errorf("got %v", got)
	}
	call.Map.Path = "shared/sites/example.com/actions.json"
	if r := h.Do(t.Context(), call); fault.CodeOf(r.Err) != fault.StateProjectionNotFound {
		t.Errorf("from the folder of another host: %v", r.Err)
	}
	call.Map.Path = "shared/sites/127.0.0.1/actions.json"
	call.Map.JSON = json.RawMessage(`{"protocol":"actions.json","version":1,"tools":[],` +
		`"state_projections":[{"name":"shelf.items","snapshot":{"version":2}}]}`)
	if r := h.Do(t.Context(), call); fault.CodeOf(r.Err) != fault.InvalidManifest {
		t.Errorf("an invalid one: %v", r.Err)
	}
}

func TestAMapWithAnInvalidProjectionIsRefused(t *testing.T) {
	engine, err := expr.New("", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	for _, c := range []struct{ name, from, to, pointer string }{
		{
			"an expression that does not parse", `[records.items]`,
			`[records.items`, "/state_projections/0/snapshot/projection/expression",
		},
		{
			"a summary that does not parse", `$count(state`,
			`$count((state`, "/state_projections/0/summaries/0/expression",
		},
		{
			"a recipe that does what recipes may not", `"summaries":`,
			`"markers":[{"id":"m","type":"pointer","recipe":[{"primitive":"browser.navigate"}]}],"summaries":`,
			"/state_projections/0/markers/0/recipe/0",
		},
	} {
		text := strings.Replace(mapOf(nil, []string{shelfProjection("shelf.items", "")}), c.from, c.to, 1)
		_, err := runtime.MapFromBytes("test/actions.json", []byte(text), catalog.Standard(), engine)
		var shown string
		if fe := fault.From(err); fe != nil {
			shown = encode(t, fe)
		}
		if fault.CodeOf(err) != fault.InvalidManifest || !strings.Contains(shown, c.pointer) {
			t.Errorf("%s: got %s, want %s at %s", c.name, shown, fault.InvalidManifest, c.pointer)
		}
	}
	text := mapOf([]string{
		tool("shelf.add", click("a", "#add"), `,"postcondition":{"verify":{"language":"jsonata","expression":"true"}}`),
	}, nil)
	if _, err := runtime.MapFromBytes(
		"test/actions.json", []byte(text), catalog.Standard(), engine,
	); fault.CodeOf(err) != fault.InvalidManifest {
		t.Errorf("a postcondition of a workflow that names no projection: %v", err)
	}
	text = strings.Replace(text, `"postcondition":{`, `"postcondition":{"projection":"x","timeout_ms":0,`, 1)
	if _, err := runtime.MapFromBytes(
		"test/actions.json", []byte(text), catalog.Standard(), engine,
	); fault.CodeOf(err) != fault.InvalidManifest {
		t.Errorf("a postcondition without any time: %v", err)
	}
}

// What a workflow promises is read from the page until it is true.
func TestPostconditions(t *testing.T) {
	const bound = 600 * time.Millisecond
	const short = `,"timeout_ms":600`
	const long = `,"timeout_ms":25000`
	url := serve(t, map[string]string{"/": shelfPage, "/other": shelfPage})
	verify := func(expression, more string) string {
		return fmt.Sprintf(`{"verify":{"language":"jsonata","expression":%q}%s}`, expression, more)
	}
	hasThree := `{% $count(state.shelf.items) = 3 %}`
	conditions := `"postconditions":{"shelf.add":` + verify(hasThree, "") + `,"shelf.later":` +
		verify(`{% $count(state.shelf.items) = input.count %}`, long) +
		`,"shelf.noise":` + verify(hasThree, short+`,"failure_message":"the shelf did not grow"`) +
		`,"shelf.go":` + verify(`{% $exists(state.shelf) %}`, long+`,"projection":"other.items"`) +
		`,"shelf.lost":` + verify(hasThree, short+`,"projection":"other.items"`) + `},`
	h := openMap(t, []string{url}, mapOf([]string{
		tool("shelf.add", click("a", "#add"), ""),
		tool("shelf.later", click("a", "#later"), ""),
		tool("shelf.noise", click("a", "#noise"), ""),
		tool("shelf.lost", click("a", "#noise"), ""),
		tool("shelf.go", click("a", "#go"), ""),
		tool("shelf.own", click("a", "#noise"), `,"postcondition":{"projection":"shelf.items",`+
			`"verify":{"language":"jsonata","expression":"{% $count(state.shelf.items) >= 2 %}"}}`),
		tool("shelf.plain", click("a", "#noise"), ""),
	}, []string{
		shelfProjection("shelf.items", conditions),
		shelfProjection("other.items", `"scope":{"url_matches":"*/other"},`),
	}))
	call := func(action, arguments string) runtime.Reply {
		return site(t, h, `{"mode":"call","action":"`+action+`","arguments":`+arguments+`}`)
	}
	for _, c := range []struct{ action, arguments, projection string }{
		{"shelf.own", `{}`, "shelf.items"},
		{"shelf.add", `{}`, "shelf.items"},
		{"shelf.later", `{"count":4}`, "shelf.items"},
		{"shelf.plain", `{}`, ""},
		{"shelf.go", `{}`, "other.items"},
	} {
		got := output(t, call(c.action, c.arguments))
		want := "null"
		if c.projection != "" {
			want = `{"ok":true,"projection":"` + c.projection + `","verdict":"confirmed"}`
		}
		if encode(t, got["postcondition"]) != want || encode(t, got["value"]) != `{"done":true}` {
			t.Errorf("%s: %v, want the postcondition %s", c.action, got, want)
		}
	}
	if r := site(
		t, h, `{"mode":"state_diff","projection_name":"shelf.items"}`,
	); output(t, r)["baseline"] != "initialized" {
		t.Errorf("a postcondition has touched the snapshots: %s", r.Output)
	}
	for _, c := range []struct {
		action  string
		code    fault.Code
		verdict string
		message string
	}{
		{"shelf.noise", fault.StatePostconditionFailed, "contradicted", "the shelf did not grow"},
		{"shelf.lost", fault.StatePostconditionFailed, "contradicted", ""},
	} {
		began := time.Now()
		r := call(c.action, `{}`)
		if fault.CodeOf(r.Err) != c.code || len(r.Output) > 0 {
			t.Errorf("%s: got %v and %s, want %s", c.action, r.Err, r.Output, c.code)
			continue
		}
		if c.message != "" && r.Err.Message != c.message {
			t.Errorf("%s: message %q", c.action, r.Err.Message)
		}
		pc := encode(t, r.Err.Fields["postcondition"])
		if !strings.Contains(pc, `"ok":false`) || !strings.Contains(pc, c.verdict) {
			t.Errorf("%s: postcondition %s", c.action, pc)
		}
		if state := encode(t, r.Err.Evidence["state"]); state != twoItems {
			t.Errorf("%s: the deciding state is %s", c.action, state)
		}
		if !strings.Contains(string(r.Steps), `"press_a"`) {
			t.Errorf("%s: steps %s", c.action, r.Steps)
		}
		if took := time.Since(began); took < bound {
			t.Errorf("%s gave up after %s", c.action, took)
		}
	}
	// Where the projection does not apply nobody can say what came of it.
	value(t, do(t, h, "browser.navigate", `{"url":"`+url+`/"}`, 0))
	r := call("shelf.lost", `{}`)
	if fault.CodeOf(r.Err) != fault.StateProjectionNotFound ||
		!strings.Contains(encode(t, r.Err.Fields["postcondition"]), "unknown") {
		t.Errorf("on another page: %v %v", r.Err, r.Err.Fields)
	}
	r = site(t, h, `{"mode":"state_read","projection_name":"other.items"}`)
	if fault.CodeOf(r.Err) != fault.StateProjectionNotFound || r.Err.Evidence["declared_for"] != "*/other" {
		t.Errorf("a projection for other pages: %v %v", r.Err, r.Err.Evidence)
	}
}
