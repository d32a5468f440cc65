package truth_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/bridgeclient/actionsbridge"
	"github.com/outrider-run/outrider/faces/hub"
	"github.com/outrider-run/outrider/faces/mcp"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/internal/testing/providertest"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
)

const (
	pagesDir  = "../../../testdata/pages/truthtable"
	truthPage = "../../../docs/truth.md"
	// sideBySide is how many pages are acted on at the same time, through one face each.
	sideBySide = 4
	// leastWays is how many ways the table must have at the least.
	leastWays = 60
)

func TestMain(m *testing.M) {
	expr.MaybeWorker()
	browsertest.Main(m)
}

// way is what a page of the table says of itself, in <script id="truth">.
type way struct {
	name string

	Way string `json:"way"`
	Act action `json:"act"`
	// By names the control whose ref is used, as the page showed it; "role:ROLE:NAME" is a
	// locator of a role and a name, "none" is no target. "" is the selector #go.
	By string `json:"by"`
	// Between is a script that the page runs between the look and the act.
	Between string `json:"between"`
	// Reached is an expression in the page's own world that is true when a person would
	// say that it worked, and Want is what it is to be. "" is a page that is closed.
	Reached string `json:"reached"`
	Want    bool   `json:"want"`
	// Ends is what the answer of each face has in it.
	Ends ends `json:"ends"`
}

type ends struct {
	MCP      string `json:"mcp"`
	Bridge   string `json:"bridge"`
	Provider string `json:"provider"`
}

type action struct {
	Action    string   `json:"action"`
	Text      string   `json:"text,omitempty"`
	Key       string   `json:"key,omitempty"`
	Options   []string `json:"options,omitempty"`
	TimeoutMS int      `json:"timeout_ms,omitempty"`
}

var truthScript = regexp.MustCompile(`(?s)<script type="application/json" id="truth">(.*?)</script>`)

func ways(t *testing.T) []way {
	t.Helper()
	files, err := filepath.Glob(pagesDir + "/*.html")
	if err != nil || len(files) < leastWays {
		t.Fatalf("found %d pages, want at least %d: %v", len(files), leastWays, err)
	}
	slices.Sort(files)
	var out []way
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		m := truthScript.FindSubmatch(b)
		if m == nil {
			t.Fatalf("%s says nothing of itself", f)
		}
		w := way{name: strings.TrimSuffix(filepath.Base(f), ".html")}
		d := json.NewDecoder(bytes.NewReader(m[1]))
		d.DisallowUnknownFields()
		if err := d.Decode(&w); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		out = append(out, w)
	}
	return out
}

// TestTruthPageIsCurrent holds docs/truth.md to the pages. No answer of a way that does not
// reach its end is without a name for that.
func TestTruthPageIsCurrent(t *testing.T) {
	all := ways(t)
	var b strings.Builder
	b.WriteString("# What an action answers when a page deceives it\n\nGenerated from `testdata/pages/truthtable` by " +
		"`make generate`; do not edit. Each page is acted on\n" +
		"through three faces in a test: MCP, a bridge (`effects` requested) and the provider protocol. The\n" +
		"test compares what a person would see with what the answer says. *Reached* says whether the act had\n" +
		"the effect that it was meant to have. What is not reached is named in every answer, by the words or\n" +
		"the code in the table.\n\n")
	reached := 0
	for _, w := range all {
		if w.Want {
			reached++
		}
	}
	fmt.Fprintf(
		&b, "%d ways: %d end well, %d do not. An answer that claims more than happened would fail the test.\n\n",
		len(all), reached, len(all)-reached,
	)
	b.WriteString("| way | reached | MCP | bridge | provider |\n|---|---|---|---|---|\n")
	for _, w := range all {
		if !w.Want && (w.Ends.MCP == "" || w.Ends.Bridge == "" || w.Ends.Provider == "") {
			t.Errorf("%s does not reach its end, and a face has no name for that", w.name)
		}
		word := func(s string) string {
			if s == "" {
				return "done"
			}
			return strings.NewReplacer("|", `\|`, `"`, "").Replace(s)
		}
		yes := "no"
		if w.Want {
			yes = "yes"
		}
		fmt.Fprintf(
			&b, "| %s | %s | %s | %s | %s |\n",
			w.Way, yes, word(w.Ends.MCP), word(w.Ends.Bridge), word(w.Ends.Provider),
		)
	}
	if os.Getenv("OUTRIDER_GENERATE") != "" {
		if err := os.WriteFile(truthPage, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if now, err := os.ReadFile(truthPage); err != nil || string(now) != b.String() {
		t.Errorf("docs/truth.md is not current (%v): run make generate", err)
	}
}

// site serves the pages of the table under two origins, and what they lead to.
func site(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	html := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, body)
		}
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, http.StatusText(code), code) }
	}
	mux.HandleFunc("/next", html("<title>next</title><h1>Next</h1>"))
	mux.HandleFunc("/login", html("<title>login</title><h1>Log in</h1>"))
	mux.HandleFunc("/inner", html(`<button onclick="parent.postMessage('Saved','*')">Go</button>`))
	mux.HandleFunc("/private", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/login", http.StatusFound)
	})
	mux.HandleFunc("/fail", status(http.StatusInternalServerError))
	mux.HandleFunc("/unauthorized", status(http.StatusUnauthorized))
	mux.HandleFunc("/empty", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/file", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="list.csv"`)
		fmt.Fprint(w, "a,b\n")
	})
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(2 * time.Second):
		case <-r.Context().Done():
		}
		http.Error(w, "late", http.StatusInternalServerError)
	})
	other := ""
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		b, err := os.ReadFile(filepath.Join(pagesDir, filepath.Base(r.URL.Path)+".html"))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(bytes.ReplaceAll(b, []byte("{{OTHER}}"), []byte(other)))
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	other = strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	return s.URL
}

// face acts on a page that it has opened.
type face interface {
	use(t *testing.T)
	open(url string) error
	// ref finds the ref of a control by its name.
	ref(name string) string
	// act does what w says to the target, and answers with all that the answer says.
	act(w way, ref string) string
	eval(expression string) (json.RawMessage, error)
	close()
}

// TestNoActionClaimsMoreThanHappened acts on each page of the table through one face, the next one for the next page.
// In the long form of the tests it acts through each face.
func TestNoActionClaimsMoreThanHappened(t *testing.T) {
	all := ways(t)
	f := newFaces(t)
	idle := make(chan [3]face, sideBySide)
	for range sideBySide {
		p := &overProvider{faces: f}
		in, out := f.prov(t)
		p.in, p.out = bufio.NewReader(in), out
		idle <- [3]face{&overMCP{faces: f}, &overBridge{overMCP: overMCP{faces: f}}, p}
	}
	for n, w := range all {
		t.Run(w.name, func(t *testing.T) {
			browsertest.SkipInShort(t, n, "testdata/pages/truthtable/"+w.name+".html")
			t.Parallel()
			three := <-idle
			defer func() { idle <- three }()
			for i, end := range []string{w.Ends.MCP, w.Ends.Bridge, w.Ends.Provider} {
				if i != n%len(three) && !browsertest.Long() {
					continue
				}
				three[i].use(t)
				check(t, []string{"MCP", "bridge", "provider"}[i], three[i], w, end, f.site)
			}
		})
	}
}

// underWay is what answers say of a page that was not done when the time of the action's report was over.
var underWay = regexp.MustCompile(`requests are under way|another document is ` +
	`loading|requests_pending|navigation_pending|"loading":true|"pending":[1-9]`)

func check(t *testing.T, name string, f face, w way, end, site string) {
	t.Helper()
	answer := ""
	defer func() {
		// A tab behind a dialog, or with another one before it, is not used again.
		if strings.Contains(answer, "dialog") || strings.Contains(answer, "opened") ||
			strings.Contains(answer, "tabs") || t.Failed() {
			f.close()
		}
	}()
	for try := 0; ; try++ {
		if err := f.open(site + "/" + w.name); err != nil {
			t.Errorf("%s: opening: %v", name, err)
			return
		}
		ref := ""
		if w.By != "" && w.By != "none" && !strings.HasPrefix(w.By, "role:") {
			ref = f.ref(w.By)
			if ref == "" {
				t.Errorf("%s: the page shows no %q", name, w.By)
				return
			}
		}
		if w.Between != "" {
			if _, err := f.eval(w.Between); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		answer = f.act(w, ref)
		if strings.Contains(answer, end) {
			break
		}
		// On a busy machine even a request to this process is under way when the report ends.
		if try == 5 || !underWay.MatchString(answer) {
			t.Errorf("%s: the answer lacks %q:\n%s", name, end, answer)
			break
		}
	}
	if w.Reached == "" {
		return
	}
	var reached bool
	var got json.RawMessage
	var err error
	for deadline := time.Now().Add(5 * time.Second); ; { // a document that is being replaced answers later
		got, err = f.eval("(" + w.Reached + ")")
		if err == nil || strings.Contains(err.Error(), "dialog") || time.Now().After(deadline) {
			break
		}
	}
	if err != nil && strings.Contains(err.Error(), "dialog") {
		got = json.RawMessage("false") // what waits for an answer has not happened
	} else if err != nil {
		t.Errorf("%s: evaluating %s: %v", name, w.Reached, err)
		return
	}
	_ = json.Unmarshal(got, &reached)
	if reached != w.Want {
		t.Errorf("%s: %s is %s, want %t; the answer was\n%s", name, w.Reached, got, w.Want, answer)
	}
}

// faces are the three faces of one host.
type faces struct {
	host   *runtime.Host
	site   string
	client *sdk.ClientSession
	hub    *hub.Hub
	prov   func(t *testing.T) (io.Reader, io.Writer)
}

func newFaces(t *testing.T) *faces {
	t.Helper()
	address := site(t)
	f := &faces{site: address, host: runtimetest.Open(t, runtime.Options{Open: []string{address + "/next"}})}
	ctx := context.WithoutCancel(t.Context())
	server, err := mcp.New(ctx, mcp.Options{Host: f.host, NewID: runtimetest.NewID, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(server.Handler(mcp.HTTPOptions{}))
	f.client, err = sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).
		Connect(ctx, &sdk.StreamableClientTransport{Endpoint: front.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = f.client.Close()
		front.CloseClientConnections()
		front.Close()
		if err := server.Close(ctx); err != nil {
			t.Errorf("closing the MCP server: %v", err)
		}
	})

	f.hub, err = hub.New(hub.Options{Listen: "127.0.0.1:0", Version: "test"})
	if err == nil {
		err = f.hub.Listen()
	}
	if err != nil {
		t.Fatal(err)
	}
	connected, err := bridgeclient.New(&bridgeclient.Options{
		URL:     "ws://" + f.hub.Addr() + "/extension",
		Dialect: actionsbridge.New(nil),
		Host:    f.host,
	})
	if err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() { _ = f.hub.Run(running) })
	all.Go(func() { _ = connected.Run(running) })
	t.Cleanup(func() {
		stop()
		all.Wait()
	})

	s := providertest.New(t, f.host, nil)
	f.prov = func(t *testing.T) (io.Reader, io.Writer) {
		c := providertest.Connect(t, s)
		return c.In, c.Out
	}
	return f
}

// overMCP acts with the tool act.
type overMCP struct {
	*faces
	t    *testing.T
	page string
	tab  runtime.TabStatus
}

func (m *overMCP) call(tool string, args any) (*sdk.CallToolResult, string) {
	m.t.Helper()
	r, err := m.client.CallTool(m.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		m.t.Fatal(err)
	}
	return r, r.Content[0].(*sdk.TextContent).Text
}

func (m *overMCP) use(t *testing.T) { m.t = t }

func (m *overMCP) open(url string) error {
	if m.page != "" {
		if r, _ := m.call("tabs", map[string]any{"action": "navigate", "url": url, "page": m.page}); !r.IsError {
			return nil
		}
		m.close()
	}
	r, text := m.call("tabs", map[string]any{"action": "open", "url": url, "page": "p1"})
	if r.IsError {
		return fmt.Errorf("%s", text)
	}
	m.page, _ = r.StructuredContent.(map[string]any)["page"].(string)
	for _, tab := range m.host.Tabs() {
		if fmt.Sprint("p", tab.TabID) == m.page {
			m.tab = tab
			return nil
		}
	}
	return fmt.Errorf("there is no tab of %s", m.page)
}

func (m *overMCP) target(w way, ref string, args map[string]any) map[string]any {
	switch {
	case w.By == "none":
	case ref != "":
		args["ref"] = ref
	case strings.HasPrefix(w.By, "role:"):
		parts := strings.SplitN(w.By, ":", 3)
		args["locator"] = map[string]any{"role": parts[1], "name": parts[2]}
	default:
		args["locator"] = map[string]any{"selector": "#go"}
	}
	return args
}

func (m *overMCP) ref(name string) string {
	return refOf(m.t, m.do("page.snapshot", map[string]any{"format": "json"}), name)
}

// refOf finds the ref of a control by its name in a snapshot.
func refOf(t *testing.T, output json.RawMessage, name string) string {
	t.Helper()
	var out struct {
		Value struct {
			Nodes []struct{ Role, Name, Ref string } `json:"nodes"`
		} `json:"value"`
	}
	if err := json.Unmarshal(output, &out); err != nil {
		t.Fatal(err)
	}
	for _, n := range out.Value.Nodes {
		if n.Name == name && n.Ref != "" {
			return n.Ref
		}
	}
	return ""
}

func (m *overMCP) do(name string, args any) json.RawMessage {
	m.t.Helper()
	encoded, err := json.Marshal(args)
	if err != nil {
		m.t.Fatal(err)
	}
	r := m.host.Do(m.t.Context(), runtime.Call{
		ID:        runtimetest.NewID(),
		Target:    runtime.Target{TabID: m.tab.TabID},
		Name:      name,
		Arguments: encoded,
	})
	if r.Err != nil {
		m.t.Errorf("%s: %v", name, r.Err)
	}
	return r.Output
}

func (m *overMCP) act(w way, ref string) string {
	args := map[string]any{"action": w.Act.Action, "page": m.page}
	if w.Act.Text != "" {
		args["text"] = w.Act.Text
	}
	if w.Act.Key != "" {
		args["key"] = w.Act.Key
	}
	if w.Act.Options != nil {
		args["options"] = w.Act.Options
	}
	if w.Act.TimeoutMS > 0 {
		args["timeout_ms"] = w.Act.TimeoutMS
	}
	args = m.target(w, ref, args)
	_, text := m.call("act", args)
	// The call ends in its time. A busy machine may not have found by then what is in the way.
	for try := 0; try < 3 && strings.Contains(text, `"handler_timeout"`); try++ {
		_, text = m.call("act", args)
	}
	if !strings.Contains(text, w.Ends.MCP) { // what comes after the answer is told by the next one
		_, later := m.call("wait", map[string]any{"page": m.page})
		text += "\n" + later
	}
	return text
}

func (m *overMCP) eval(expression string) (json.RawMessage, error) {
	args, err := json.Marshal(map[string]any{"source": "return await (" + expression + ")"})
	if err != nil {
		return nil, err
	}
	r := m.host.Do(m.t.Context(), runtime.Call{
		ID:        runtimetest.NewID(),
		Target:    runtime.Target{TabID: m.tab.TabID},
		Name:      "debug.run_javascript",
		Arguments: args,
	})
	if r.Err != nil {
		return nil, r.Err
	}
	var out struct {
		Value struct {
			Result json.RawMessage `json:"result"`
		} `json:"value"`
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(r.Output, &out); err != nil {
		return nil, err
	}
	if out.Value.Result != nil {
		return out.Value.Result, nil
	}
	return out.Result, nil
}

func (m *overMCP) close() {
	m.call("tabs", map[string]any{"action": "close", "page": m.page})
	m.page = ""
}

// overBridge acts with primitives that a bridge routes to the tab.
type overBridge struct{ overMCP }

func (b *overBridge) act(w way, ref string) string {
	args := b.target(w, ref, map[string]any{"effects": true})
	name := "pointer.click"
	switch w.Act.Action {
	case "fill":
		name = "text.insert"
		args["text"] = w.Act.Text
		args["mode"] = "replace"
		args["drawn"] = true
	case "type":
		name = "text.type"
		args["text"], args["trusted"] = w.Act.Text, true
	case "press":
		name = "keyboard.press"
		args["key"] = w.Act.Key
	case "select":
		name = "page.select"
		args["label"] = w.Act.Options
	}
	if w.Act.TimeoutMS > 0 {
		args["timeout_ms"] = w.Act.TimeoutMS
	}
	encoded, err := json.Marshal(args)
	if err != nil {
		b.t.Fatal(err)
	}
	// until the hub knows the tab
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		r := b.hub.Call(b.t.Context(), hub.ToolCall{Name: name, Arguments: encoded, TargetRuntimeID: b.tab.RuntimeID})
		if text := string(r.Output) + string(r.Error); r.Status == http.StatusOK || time.Now().After(deadline) {
			return text
		}
	}
}

// overProvider acts with the methods of the provider protocol.
type overProvider struct {
	*faces
	t       *testing.T
	in      *bufio.Reader
	out     io.Writer
	session any
	page    any
	next    int
}

func (p *overProvider) ask(method string, params map[string]any) (map[string]any, string) {
	p.t.Helper()
	p.next++
	if p.session != nil {
		params["session_id"] = p.session
	}
	if p.page != nil && params["page_id"] == nil {
		params["page_id"] = p.page
	}
	line, err := json.Marshal(map[string]any{"id": fmt.Sprint(p.next), "method": method, "params": params})
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.out.Write(append(line, '\n')); err != nil {
		p.t.Fatal(err)
	}
	answer, err := p.in.ReadString('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	var a struct {
		OK     bool           `json:"ok"`
		Result map[string]any `json:"result"`
	}
	if err := json.Unmarshal([]byte(answer), &a); err != nil {
		p.t.Fatal(err)
	}
	if !a.OK {
		return nil, answer
	}
	return a.Result, answer
}

func (p *overProvider) use(t *testing.T) { p.t = t }

func (p *overProvider) open(url string) error {
	if p.page != nil {
		if opened, _ := p.ask("page.open", map[string]any{"url": url}); opened != nil {
			return nil
		}
		p.close()
	}
	session, answer := p.ask("session.ensure", map[string]any{"client_session_id": runtimetest.NewID()})
	if session == nil {
		return fmt.Errorf("%s", answer)
	}
	p.session = session["session_id"]
	opened, answer := p.ask("page.open", map[string]any{"url": url})
	if opened == nil {
		return fmt.Errorf("%s", answer)
	}
	p.page = opened["page_id"]
	return nil
}

func (p *overProvider) ref(name string) string {
	seen, _ := p.ask("page.snapshot", map[string]any{"include_text": false})
	elements, _ := seen["elements"].([]any)
	for _, e := range elements {
		if one, _ := e.(map[string]any); one["name"] == name {
			ref, _ := one["element_ref"].(string)
			return ref
		}
	}
	return ""
}

func (p *overProvider) act(w way, ref string) string {
	params := map[string]any{}
	switch {
	case w.By == "none":
	case ref != "":
		params["element_ref"] = ref
	case strings.HasPrefix(w.By, "role:"):
		params["text_query"] = w.By[strings.LastIndex(w.By, ":")+1:]
	default:
		params["selector"] = "#go"
	}
	if w.Act.TimeoutMS > 0 {
		params["timeout_ms"] = w.Act.TimeoutMS
	}
	method := "page.click"
	switch w.Act.Action {
	case "fill", "type":
		method = "page.type"
		params["text"], params["replace"] = w.Act.Text, w.Act.Action == "fill"
	case "press":
		method = "page.press"
		params["key"] = w.Act.Key
	case "select":
		method = "page.select"
		params["label"] = w.Act.Options[0]
	}
	_, answer := p.ask(method, params)
	return answer
}

func (p *overProvider) eval(expression string) (json.RawMessage, error) {
	r, answer := p.ask("page.eval", map[string]any{"expression": "return await (" + expression + ")"})
	if r == nil {
		return nil, fmt.Errorf("%s", answer)
	}
	return json.Marshal(r["value"])
}

func (p *overProvider) close() {
	p.ask("session.close", map[string]any{})
	p.session, p.page = nil, nil
}
