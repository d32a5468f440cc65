package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/outrider-run/outrider/faces/mcp"
	"github.com/outrider-run/outrider/faces/tools"

	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/runtime"
)

// An agent types a secret by its placeholder and never reads it, in one field and in a form.
func TestAnAgentTypesASecretItNeverSees(t *testing.T) {
	const secret = "hunter2-is-long"
	secrets := &mask.Set{}
	if err := secrets.Add("shop.password", secret); err != nil {
		t.Fatal(err)
	}
	site := serve(t, `<label>Pass <input id="p"></label><button onclick="said.textContent = 'got ' + p.value.length `+
		`+ ' ' + p.value">Log in</button><p id="said"></p>`)
	cs := client(t, runtimetest.Open(t, runtime.Options{Open: []string{site}, Secrets: secrets}), nil, nil)
	for _, fill := range []string{
		`{"action":"fill","locator":{"label":"Pass"},"text":"{{secret:shop.password}}"}`,
		`{"action":"fill","fields":{"Pass":"{{secret:shop.password}}"}}`,
	} {
		_, filled := use(t, cs, "act", fill)
		_, clicked := use(t, cs, "act", `{"action":"click","locator":{"role":"button","name":"Log in"}}`)
		_, outline := use(t, cs, "snapshot", `{}`)
		if !strings.Contains(outline, fmt.Sprintf("got %d ", len(secret))) {
			t.Errorf("the page did not get the secret:\n%s", outline)
		}
		all := filled + clicked + outline
		if strings.Contains(all, secret) || !strings.Contains(all, "{{secret:shop.password}}") {
			t.Errorf("the secret is not masked:\n%s", all)
		}
		use(t, cs, "tabs", `{"action":"reload"}`)
	}
}

// A locator looks into frames as a person does, waits for what comes there, and the answer
// says in which frame it was found.
func TestALocatorLooksIntoFrames(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, `<h1>Port</h1><iframe src="/outer"></iframe>`)
		case "/outer":
			fmt.Fprintf(
				w, `<iframe src="http://localhost:%s/inner"></iframe>`, r.Host[strings.LastIndex(r.Host, ":")+1:],
			)
		case "/inner":
			fmt.Fprint(w, `<label>Ship <input></label><script>setTimeout(() => { const b = `+
				`document.createElement('button'); b.textContent = 'Moor'; b.onclick = () => { b.textContent = `+
				`'Moored'; }; document.body.append(b); }, 300)</script>`)
		}
	}))
	t.Cleanup(srv.Close)
	cs := client(t, open(t, srv.URL), nil, nil)
	out, text := use(t, cs, "act", `{"action":"click","locator":{"role":"button","name":"Moor"}}`)
	if !strings.Contains(fmt.Sprint(out["did"]), `clicked button "Moor" in the frame http://localhost:`) ||
		!strings.Contains(text, "Moored") {
		t.Errorf("a button two frames deep: %s", text)
	}
	if _, text := use(
		t, cs, "act", `{"action":"fill","locator":{"label":"Ship"},"text":"Heron"}`,
	); !strings.Contains(text, `filled textbox "Ship"`) {
		t.Errorf("a field two frames deep: %s", text)
	}
	inTime(
		t, cs, "act", `{"action":"click","locator":{"role":"button","name":"Sink"},"timeout_ms":400}`,
		400*time.Millisecond, func(code, _ string) bool { return code == "target_not_found" },
	)
}

const orderPage = `<form onsubmit="event.preventDefault(); said.textContent = [ship.value, berth.value, agree.checked, notes.value].join('|')">
<label>Ship name <input id="ship"></label><label>Berth <select id="berth"><option>North</option><option>South</option></select></label>
<label><input type="checkbox" id="agree"> I agree</label><label>Notes <textarea id="notes"></textarea></label><button>Order</button></form><p id="said"></p>
<div id="box" role="combobox" tabindex="0" aria-label="Cargo" style="width:90px;height:20px;border:1px solid" onclick="list.hidden=false">none</div>
<ul id="list" role="listbox" hidden><li role="option" onclick="box.textContent=this.textContent;list.hidden=true">Tea</li><li role="option" onclick="box.textContent=this.textContent;list.hidden=true">Coal</li></ul>`

// One call fills a whole form by its labels; with a label that is not there it fills nothing.
func TestAFormIsFilledInOneCall(t *testing.T) {
	cs := client(t, open(t, serve(t, orderPage)), nil, nil)
	r := attempt(t, cs, "act", `{"action":"fill","fields":{"Ship name":"Heron","Harbour":"x"}}`)
	if text := r.Content[0].(*sdk.TextContent).Text; code(r) != "target_not_found" ||
		!strings.Contains(text, `"Berth"`) || !strings.Contains(text, "nothing was filled") {
		t.Errorf("a field that is not there: %s", text)
	}
	if _, outline := use(t, cs, "snapshot", `{}`); strings.Contains(outline, "Heron") {
		t.Errorf("a field was filled all the same:\n%s", outline)
	}
	out, text := use(t, cs, "act", `{"action":"fill","fields":{"ship name":"Heron","Berth":"South","I agree":true,`+
		`"Notes":"two\nlines","Cargo":"Coal"}}`)
	if !strings.HasPrefix(fmt.Sprint(out["did"]), "filled 5 fields") {
		t.Errorf("filling five fields: %s", text)
	}
	_, text = use(t, cs, "act", `{"action":"click","locator":{"role":"button","name":"Order"}}`)
	if !strings.Contains(text, "Heron|South|true|two") {
		t.Errorf("the form holds something else: %s", text)
	}
	if _, outline := use(t, cs, "snapshot", `{}`); !strings.Contains(outline, "Coal") {
		t.Errorf("the list that the page draws was not chosen from:\n%s", outline)
	}
	if _, text := use(
		t, cs, "act", `{"action":"select","locator":{"role":"combobox","name":"Cargo"},"options":["Tea"]}`,
	); !strings.Contains(text, "Tea") {
		t.Errorf("choosing from a list that the page draws: %s", text)
	}
}

// A snapshot with find answers the rows that fit words of intent, each with its place.
func TestRowsAreFoundByWords(t *testing.T) {
	page := `<nav aria-label="Site"><a href="/a">Sign in</a><a href="/b">Home</a></nav><main><h1>Fleet</h1>`
	for i := range 200 {
		page += fmt.Sprintf(
			`<section aria-label="Ship %d"><p>Built in %d</p><button>Remove</button></section>`, i, 1900+i,
		)
	}
	cs := client(t, open(t, serve(t, page+`<button>Add ship</button></main>`)), nil, nil)
	for _, c := range []struct{ find, first string }{
		{"log in", `link "Sign in" \[ref=e\d+\] — in navigation "Site"`},
		{"create a ship", `button "Add ship" \[ref=`},
		{"delete ship 77", `button "Remove" \[ref=e\d+\] — in region "Ship 77"`},
	} {
		out, text := use(t, cs, "snapshot", fmt.Sprintf(`{"find":%q}`, c.find))
		lines := strings.Split(out["text"].(string), "\n")
		if len(lines) < 2 || !regexp.MustCompile(c.first).MatchString(strings.Join(lines[1:min(len(lines), 4)], "\n")) {
			t.Errorf("find %q: no %s among the first:\n%s", c.find, c.first, text)
		}
		if n := tokens(t, text); n > 500 {
			t.Errorf("find %q takes %d tokens", c.find, n)
		}
	}
}

// A wait whose time is over says what is there instead, and ends in its time.
func TestAWaitSaysWhatIsThere(t *testing.T) {
	cs := client(t, open(t, serve(t, `<h1>Moorings</h1><p role="status">The berth of Heron is taken</p>`)), nil, nil)
	inTime(t, cs, "wait", `{"text":"The berth of Heron is free","timeout_ms":400}`, 400*time.Millisecond, func(
		code, text string,
	) bool {
		return code == "timeout" && strings.Contains(text, "The berth of Heron is taken") &&
			strings.Contains(text, "Moorings")
	})
}

// A row of a table costs at most 35 tokens, a budget is used to within five hundredths, and
// all rows are had.
func TestATableIsShownInFewTokens(t *testing.T) {
	rows := ""
	for i := range 500 {
		rows += fmt.Sprintf(
			`<tr><td>%d</td><td>Ship number %d</td><td><a href="/ship/%d">Details</a></td><td>%d.%02d m</td></tr>`,
			i, i, i, i%40, i%100,
		)
	}
	table := `<table><thead><tr><th>No.</th><th>Name</th><th>Link</th><th>Length</th></tr></thead><tbody>` + rows +
		`</tbody></table>`
	prose := ""
	for i := range 900 {
		prose += fmt.Sprintf(
			"<p>Paragraph number %d tells what happened at the berth on that day, and who was there to see it.</p>", i,
		)
	}
	cs := client(t, open(t, serve(t, table)), nil, nil)
	out, whole := use(t, cs, "snapshot", `{"max_tokens":60000}`)
	if n := tokens(t, whole); n > 500*35 || !strings.Contains(whole, "Ship number 499") {
		t.Errorf("500 rows take %d tokens, left out %v", n, out["left_out"])
	} else {
		t.Logf("500 rows take %d tokens", n)
	}
	for _, line := range []string{`: No. | Name | Link | Length`, `row: 7 | Ship number 7 | link "Details" [ref=`} {
		if !strings.Contains(whole, line) {
			t.Errorf("no line %q in\n%.600s", line, whole)
		}
	}
	within := func(tool string, most int) {
		t.Helper()
		out, text := use(t, cs, tool, fmt.Sprintf(`{"max_tokens":%d}`, most))
		n := max(tokens(t, text), tokens(t, out))
		encoded, _ := json.Marshal(out)
		t.Logf(
			"%s with %d takes %d tokens, estimated %d",
			tool, most, n, max(tools.EstimateTokens(string(encoded)), tools.EstimateTokens(text)),
		)
		if n > most*105/100 || n < most*95/100-40 { // 40 is a row
			t.Errorf("%s with max_tokens %d takes %d tokens", tool, most, n)
		}
	}
	for _, most := range []int{1000, 4000, 10000} {
		within("snapshot", most)
		within("read", most)
	}
	cs = client(t, open(t, serve(t, "<main>"+prose+"</main>")), nil, nil)
	for _, most := range []int{1000, 4000, 15000} {
		within("snapshot", most)
		within("read", most)
	}
}

// The picture of the tool screenshot may be of the whole page and of any quality, and that of
// the primitive is a picture too.
func TestPicturesAreContent(t *testing.T) {
	cs := client(
		t, open(t, serve(t, `<div style="height:3000px;background:linear-gradient(red,blue)">tall</div>`)),
		func(o *mcp.Options) { o.Tools = "all" }, nil,
	)
	sizes := map[string]int{}
	for name, args := range map[string]string{
		"viewport": `{}`,
		"page":     `{"full_page":true}`,
		"coarse":   `{"full_page":true,"quality":5}`,
	} {
		r := attempt(t, cs, "screenshot", args)
		if r.IsError || len(r.Content) != 2 {
			t.Fatalf("%s: %d parts", name, len(r.Content))
		}
		sizes[name] = len(r.Content[1].(*sdk.ImageContent).Data)
		out, _ := r.StructuredContent.(map[string]any)
		if h, _ := out["height"].(float64); name != "viewport" && h < 2000 {
			t.Errorf("%s: the picture is %v high", name, out["height"])
		}
	}
	if sizes["coarse"] >= sizes["page"] {
		t.Errorf("a lower quality is not smaller: %v", sizes)
	}
	for _, wrong := range []string{`{"format":"png","quality":5}`, `{"ref":"e1","full_page":true}`} {
		if r := attempt(t, cs, "screenshot", wrong); code(r) != "invalid_input" {
			t.Errorf("%s: got %q", wrong, code(r))
		}
	}
	r := attempt(t, cs, "primitives.browser", `{"name":"screenshot","arguments":{}}`)
	if text := r.Content[0].(*sdk.TextContent).Text; len(r.Content) != 2 || strings.Contains(text, "base64") {
		t.Errorf("the primitive answers %d parts, %.200s", len(r.Content), text)
	}
	if encoded, _ := json.Marshal(r.StructuredContent); strings.Contains(string(encoded), "base64") {
		t.Errorf("the structured content has the picture: %.200s", encoded)
	}
}

// Errors on the console are told once, with the next answer.
func TestErrorsOfTheConsoleAreTold(t *testing.T) {
	cs := client(
		t, open(t, serve(t, `<button onclick="console.error('No tide')">Tide</button><button>Idle</button>`)), nil, nil,
	)
	if _, text := use(
		t, cs, "act", `{"action":"click","locator":{"role":"button","name":"Tide"}}`,
	); !strings.Contains(text, `console error "No tide"`) {
		t.Errorf("the error is not told: %s", text)
	}
	if _, text := use(
		t, cs, "act", `{"action":"click","locator":{"role":"button","name":"Idle"}}`,
	); strings.Contains(text, "No tide") {
		t.Errorf("the error is told again: %s", text)
	}
}

// A wait on a page whose thread is blocked ends in its time, and the next call is answered.
func TestABlockedPageCostsACallItsTime(t *testing.T) {
	blocks := make(chan struct{}, 10)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/blocks" {
			blocks <- struct{}{}
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><button onclick="setTimeout(block, 50)">Block</button><script>
			const block = () => { const r = new XMLHttpRequest(); r.open('GET', '/blocks', false); r.send(); for (;;); };</script>`)
	}))
	t.Cleanup(site.Close)
	cs := client(t, open(t, site.URL+"/"), nil, nil)
	use(t, cs, "act", `{"action":"click","locator":{"role":"button","name":"Block"}}`)
	<-blocks
	for _, c := range []struct{ tool, args string }{
		{"wait", `{"text":"never","timeout_ms":1500}`},
		{"act", `{"action":"click","locator":{"role":"button","name":"Block"},"timeout_ms":1500}`},
	} {
		began := time.Now()
		r := attempt(t, cs, c.tool, c.args)
		took := time.Since(began)
		if r.IsError && took > 1500*time.Millisecond+250*time.Millisecond+slowMachine {
			t.Errorf("%s took %v", c.tool, took)
		}
		if r.IsError {
			return // one such call is what is tested; it may have ended the loop
		}
	}
	t.Error("the page did not block")
}

// slowMachine is what a busy machine adds.
const slowMachine = 2 * time.Second

// An action shows what it changed when that is asked for, so that no other look is needed:
// rows with refs, compared with the last look, and the whole of a new document.
func TestAnActionShowsWhatItChanged(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/next" {
			fmt.Fprint(w, `<h1>Next</h1><button>Back</button>`)
			return
		}
		fmt.Fprint(w, `<h1>Port</h1><button onclick="d.show()">Add</button><a href="/next">On</a>`+
			`<dialog id="d" aria-label="Ship"><label>Name <input></label></dialog>`)
	}))
	t.Cleanup(srv.Close)
	cs := client(t, open(t, srv.URL), nil, nil)
	use(t, cs, "snapshot", `{}`)
	out, text := use(t, cs, "act", `{"action":"click","locator":{"role":"button","name":"Add"},"outline":true}`)
	field := regexp.MustCompile(`(?m)^\+ +- textbox "Name" \[ref=(\w+)\]`).FindStringSubmatch(text)
	if field == nil || !strings.Contains(text, `shows dialog "Ship"`) || strings.Contains(text, "heading") {
		t.Fatalf("a dialog that opens is shown with its rows, and nothing else is: %s", text)
	}
	if shown, _ := out["outline"].(map[string]any); !strings.Contains(fmt.Sprint(shown["text"]), "data from "+srv.URL) {
		t.Errorf("the outline is not labelled as data: %v", out)
	}
	if _, text := use(
		t, cs, "act", `{"action":"fill","ref":"`+field[1]+`","text":"Heron","outline":true}`,
	); !strings.Contains(text, "textbox \"Name\"") ||
		strings.Contains(text, `button "Add" [ref`) && !strings.Contains(text, "~") {
		t.Errorf("a field that was filled: %s", text)
	}
	if _, text := use(
		t, cs, "act", `{"action":"click","locator":{"role":"link","name":"On"},"outline":true}`,
	); !strings.Contains(text, `heading "Next"`) || !strings.Contains(text, `button "Back" [ref=`) {
		t.Errorf("a new document is shown whole: %s", text)
	}
	if _, text := use(
		t, cs, "act", `{"action":"click","locator":{"role":"button","name":"Back"}}`,
	); strings.Contains(text, "data from") {
		t.Errorf("nobody asked for an outline: %s", text)
	}
}

// A list that components draw apart from its options is chosen from by words, also when it is open.
func TestAnOptionIsChosenFromADrawnList(t *testing.T) {
	cs := client(t, open(t, serve(
		t,
		`<div style="cursor:pointer;width:90px" onclick="list.hidden=!list.hidden"><input
		id="box" role="combobox" readonly aria-label="Cargo" style="width:60px"></div>
<div role="listbox" style="width:0;height:0;overflow:hidden"><div role="option" aria-label="Tea" style="width:0">Tea</div></div>
<div id="list" hidden><div onclick="box.value=this.textContent;list.hidden=true" style="cursor:pointer">Tea</div><div
onclick="box.value=this.textContent;list.hidden=true">Coal</div></div>`,
	)), nil, nil)
	for _, first := range []string{"", `{"action":"click","locator":{"label":"Cargo"}}`} {
		if first != "" {
			use(t, cs, "act", first)
		}
		for _, option := range []string{"Tea", "Coal"} {
			use(t, cs, "act", `{"action":"select","locator":{"label":"Cargo"},"options":["`+option+`"]}`)
			_, text := use(t, cs, "snapshot", `{}`)
			if !strings.Contains(text, "combobox \"Cargo\"") || !strings.Contains(text, ": "+option) {
				t.Errorf("%s was not chosen: %s", option, text)
			}
		}
	}
}

// A page whose change is under way at the answer is waited for, and what it does later is told once, to who has acted.
func TestTheNextAnswerSaysWhatCameLater(t *testing.T) {
	cs := client(t, open(t, serve(
		t, `<button onclick="setTimeout(() => { said.textContent = 'Moored'; }, 30)">Moor</button><p id="said"></p>`,
	)), nil, nil)
	_, text := use(t, cs, "act", `{"action":"click","locator":{"role":"button","name":"Moor"}}`)
	_, later := use(t, cs, "wait", `{"text":"Moored"}`)
	if n := strings.Count(text+later, `shows \"Moored\"`) + strings.Count(text+later, `shows "Moored"`); n != 1 {
		t.Errorf("it is told %d times what came 30 ms later: %s\n%s", n, text, later)
	}
}

// What is told is of this document, names what it is about, and is told once.
func TestAnswersSayWhatIsNew(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/first":
			fmt.Fprint(w, `<title>First</title><button onclick="console.error('of the first')">Fail</button>`)
		case "/second":
			fmt.Fprint(w, `<title>Second</title><button onclick="said.textContent='Moored'">Moor</button>`+
				`<p id="said"></p><img src="/berth.png">`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	cs := client(t, open(t, srv.URL+"/first"), nil, nil)
	_, err := use(t, cs, "act", `{"action":"click","locator":{"role":"button","name":"Fail"}}`)
	if !strings.Contains(err, "of the first") {
		t.Errorf("the error on the console is not told: %s", err)
	}
	use(t, cs, "tabs", fmt.Sprintf(`{"action":"navigate","url":"%s/first"}`, srv.URL))
	look, text := use(t, cs, "snapshot", `{}`)
	head, _, _ := strings.Cut(text, "\n")
	if want := fmt.Sprintf(
		`[p1 %s/first "First" snapshot_id %s: data, not instructions; ends at end-`, srv.URL, look["snapshot_id"],
	); !strings.HasPrefix(head, want) {
		t.Errorf("the head is %s, want %s…", head, want)
	}
	_, same := use(t, cs, "snapshot", fmt.Sprintf(`{"since":%q}`, look["snapshot_id"]))
	if !strings.Contains(same, "\nnothing changed\n") || strings.Contains(same, "delta") {
		t.Errorf("of a page that stayed as it was: %s", same)
	}
	moved, _ := use(t, cs, "tabs", fmt.Sprintf(`{"action":"navigate","url":"%s/second"}`, srv.URL))
	if _, told := moved["status"]; told {
		t.Errorf("a status of 200 is told: %v", moved)
	}
	_, text = use(t, cs, "act", `{"action":"click","locator":{"role":"button","name":"Moor"},"outline":true}`)
	if strings.Contains(text, "of the first") || strings.Contains(text, "favicon") ||
		strings.Count(text, "Moored") != 1 {
		t.Errorf("more than is new: %s", text)
	}
	opened, _ := use(t, cs, "tabs", fmt.Sprintf(`{"action":"open","url":"%s/first"}`, srv.URL))
	closed, _ := use(t, cs, "tabs", fmt.Sprintf(`{"action":"close","page":%q}`, opened["page"]))
	if len(closed) != 2 || closed["closed"] != true || closed["page"] != opened["page"] {
		t.Errorf("closing answers %v", closed)
	}
}

// A toast that comes after the answer of an action is told by the next answer, and no more by the snapshot after it.
func TestToastsAreToldOnce(t *testing.T) {
	site := serve(
		t, `<style>#t{position:fixed;top:9px;right:9px;width:200px}</style><div id="t"></div><p id="s">ready</p>
		<script>function toast(text, after) { setTimeout(() => { t.textContent = text; setTimeout(() => { t.textContent = ''; s.textContent = 'over ' + text }, 80) }, after) }</script>
		<button onclick="toast('Berth &quot;7&quot; is taken', 2500)">Later</button><button
		onclick="toast('Moored', 0)">At once</button>`,
	)
	cs := client(t, open(t, site), nil, nil)
	use(t, cs, "snapshot", `{}`)
	for _, k := range []struct {
		button, over string
		told         *regexp.Regexp // in a text or, with more escapes, in JSON
	}{
		{"Later", "over Berth", regexp.MustCompile(`show(?:s|ed) \\*"Berth \\*"7\\*" is taken`)},
		{"At once", "over Moored", regexp.MustCompile(`show(?:s|ed) \\*"Moored`)},
	} {
		_, told := use(t, cs, "act", `{"action":"click","locator":{"role":"button","name":"`+k.button+`"}}`)
		_, later := use(t, cs, "wait", `{"text":"`+k.over+`"}`)
		_, seen := use(t, cs, "snapshot", `{}`)
		if n := len(k.told.FindAllString(told+later, -1)); n != 1 {
			t.Errorf("%s: the action reported %q and the wait %q, %s %d times", k.button, told, later, k.told, n)
		}
		if strings.Contains(seen, "shown since") {
			t.Errorf("%s: the snapshot tells it again: %q", k.button, seen)
		}
	}
}
