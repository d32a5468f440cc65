package browser_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/runtime/browser/launch"
)

const (
	pagesRoot     = "../../testdata/pages"
	knownFailures = "../../testdata/known-failures.txt"
)

// expectation is what a page of the table says of itself, in
// <script type="application/json" id="expect">.
type expectation struct {
	About    string     `json:"about"`
	Viewport viewport   `json:"viewport"` // default 1280 x 720
	Browser  string     `json:"browser"`  // chromium where the headless shell lacks something
	Calls    []pageCall `json:"calls"`

	autofocus bool
}

// pageCall is one primitive and what must come of it. A string argument
// "$name.path" stands for a part of a saved payload.
type pageCall struct {
	Name     string          `json:"name"`
	Args     json.RawMessage `json:"args"`
	Expect   any             `json:"expect"`   // subset of the payload, see subset
	Error    string          `json:"error"`    // code of the failure; none wanted without
	Evidence any             `json:"evidence"` // subset of the error's evidence
	Then     string          `json:"then"`     // expression in the page's world that must be true
	Save     string          `json:"save"`     // name under which the payload is kept
	// TimeoutMS bounds the call; a minute without it.
	TimeoutMS int `json:"timeout_ms"`

	// Extension is what comes of the call in the extension profile; it takes the
	// place of Expect, Error, Evidence and Then. A page with one such call is
	// walked twice, once in each profile.
	Extension *pageOutcome `json:"extension"`
	// Profile, when given, is the only profile in which the call is made.
	Profile string `json:"profile"`
}

type pageOutcome struct {
	Expect   any    `json:"expect"`
	Error    string `json:"error"`
	Evidence any    `json:"evidence"`
	Then     string `json:"then"`
}

// profiles lists the profiles in which the page is walked.
func (e expectation) profiles() []string {
	for _, c := range e.Calls {
		if c.Extension != nil || c.Profile != "" {
			return []string{quirks.StrictProfile, quirks.ExtensionProfile}
		}
	}
	return []string{quirks.StrictProfile}
}

// in returns the calls as they are made in a profile.
func (e expectation) in(profile string) expectation {
	var calls []pageCall
	for _, c := range e.Calls {
		if c.Profile != "" && c.Profile != profile {
			continue
		}
		if x := c.Extension; x != nil && profile == quirks.ExtensionProfile {
			c.Expect = x.Expect
			c.Error = x.Error
			c.Evidence = x.Evidence
			c.Then = x.Then
		}
		calls = append(calls, c)
	}
	e.Calls = calls
	return e
}

type viewport struct{ Width, Height int }

// UnmarshalJSON reads {"width":w,"height":h} or [w,h].
func (v *viewport) UnmarshalJSON(b []byte) error {
	var pair [2]int
	if bytes.HasPrefix(b, []byte("[")) {
		err := json.Unmarshal(b, &pair)
		*v = viewport{pair[0], pair[1]}
		return err
	}
	type plain viewport
	return json.Unmarshal(b, (*plain)(v))
}

// clipboardUse is of a page that is walked alone: the clipboard is the browser's, and tabs
// side by side would find each other's texts in it.
var clipboardUse = regexp.MustCompile(`"(clipboard|transfer)\.|(Control|Meta)\+[cCxXvV]"`)

var expectScript = regexp.MustCompile(`(?s)<script type="application/json" id="expect">(.*?)</script>`)

// servePages serves the table under two origins. {{OTHER}} and {{ORIGIN2}} in a
// page are the other one.
func servePages(t *testing.T) string {
	var other string
	srv := httptest.NewServer(browsertest.Faulty(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := os.ReadFile(filepath.Join(pagesRoot, filepath.FromSlash(r.URL.Path)))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		if strings.HasSuffix(r.URL.Path, ".html") {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			b = bytes.ReplaceAll(b, []byte("{{OTHER}}"), []byte(other))
			b = bytes.ReplaceAll(b, []byte("{{ORIGIN2}}"), []byte(other))
			_, _ = w.Write(b)
			return
		}
		http.ServeFile(w, r, filepath.Join(pagesRoot, filepath.FromSlash(r.URL.Path)))
	})))
	t.Cleanup(srv.Close)
	other = strings.Replace(srv.URL, "127.0.0.1", "localhost", 1)
	return srv.URL
}

// TestPages walks the page table: each page below testdata/pages that carries an
// expectation is opened, and its calls are made through the registry as every
// caller makes them. A new case is one HTML file. A page whose calls leave nothing
// in a tab has one that others had before; in the long form each has a fresh one.
func TestPages(t *testing.T) {
	walkPages(t, browsertest.Browser(t), !browsertest.Long())
}

// TestPagesOnChromium walks the page table on the browser that has windows.
func TestPagesOnChromium(t *testing.T) {
	browsertest.OnlyLong(t)
	if !browsertest.Browser(t).Shell() {
		t.Skip("TestPages runs on Chromium") // there is no headless shell
	}
	walkPages(t, browsertest.Chromium(t), false)
}

func walkPages(t *testing.T, b *browser.Browser, reuse bool) {
	tabs := &pageTabs{parent: t, b: b}
	origin := servePages(t)
	registry := catalog.Standard()
	known := readKnownFailures(t)
	cases := 0
	err := filepath.WalkDir(pagesRoot, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".html" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		m := expectScript.FindSubmatch(text)
		if m == nil {
			return nil // a part of another page
		}
		number := cases
		cases++
		rel, err := filepath.Rel(pagesRoot, path)
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(filepath.ToSlash(rel), ".html")
		t.Run(name, func(t *testing.T) {
			browsertest.SkipInShort(t, number, "testdata/pages/"+name+".html")
			if !clipboardUse.Match(m[1]) {
				t.Parallel()
			}
			var e expectation
			m[1] = bytes.ReplaceAll(
				m[1], []byte("{{OTHER}}"), []byte(strings.Replace(origin, "127.0.0.1", "localhost", 1)),
			)
			dec := json.NewDecoder(bytes.NewReader(m[1]))
			dec.DisallowUnknownFields()
			if err := dec.Decode(&e); err != nil {
				t.Fatalf("the expectation does not parse: %v", err)
			}
			if e.About == "" || len(e.Calls) == 0 {
				t.Fatal("the expectation says nothing")
			}
			e.autofocus = bytes.Contains(text, []byte("autofocus"))
			reuse := reuse && e.leavesNothing(text)
			var problems []string
			for _, profile := range e.profiles() {
				tab := tabs.take(t, e, reuse)
				for _, p := range runPage(t, registry, tab, origin+"/"+name+".html", e.in(profile), profile) {
					problems = append(problems, profile+": "+p)
				}
				if reuse && len(problems) == 0 {
					tabs.put(tab)
				}
			}
			reason, listed := known[name]
			switch {
			case listed && len(problems) == 0:
				t.Errorf("passes, but is listed in known-failures.txt: %s", reason)
			case listed:
				t.Skipf("known failure: %s", reason)
			}
			for _, p := range problems {
				t.Errorf("%s: %s", e.About, p)
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if cases < 20 {
		t.Errorf("found %d pages: the test does not see the table", cases)
	}
}

// pageTabs are tabs that pages have one after the other. A tab costs four times what a page costs.
type pageTabs struct {
	parent *testing.T
	b      *browser.Browser
	mu     sync.Mutex
	idle   []*browser.Tab
}

// take returns a tab: one that another page had, where the page may have that, else a fresh one, which ends with the
// test of the page where no other may have it.
func (p *pageTabs) take(t *testing.T, e expectation, reuse bool) *browser.Tab {
	t.Helper()
	if e.Browser == launch.Chromium {
		return browsertest.TabIn(t, browsertest.Chromium(t))
	}
	if !reuse {
		return browsertest.TabIn(t, p.b)
	}
	p.mu.Lock()
	var tab *browser.Tab
	if last := len(p.idle) - 1; last >= 0 {
		tab = p.idle[last]
		p.idle = p.idle[:last]
	}
	p.mu.Unlock()
	if tab == nil {
		return browsertest.TabIn(p.parent, p.b)
	}
	// The pointer leaves the page, since it stays where it was when a document takes the place of another.
	away := map[string]any{"type": "mouseMoved", "x": -1, "y": -1}
	if err := tab.Raw(within(t, 10*time.Second), "Input.dispatchMouseEvent", away, nil); err != nil {
		t.Fatal(err)
	}
	return tab
}

func (p *pageTabs) put(tab *browser.Tab) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, tab)
}

// leaves is what a page or a call does that the next document of the tab, or of its browser context, can find.
var leaves = regexp.MustCompile(`(?i)cookie|storage|indexedDB|caches|worker|BroadcastChannel|window\.open|_blank|` +
	`history|beforeunload|pagehide|alert\(|confirm\(|prompt\(|print\(|fullscreen|download|location|window\.name`)

// counted is what a page expects by its number: refs are counted through the documents of a tab, and which frame is the
// first of any_frame depends on what its tab had before.
var counted = regexp.MustCompile(`ref=\w*e\d|"(f\d+)?e\d+"|"any_frame"`)

// harmless are the families of primitives that leave nothing in a tab.
var harmless = regexp.MustCompile(`^(a11y|dom|locator|pointer|text|viewport)\.|` +
	`^(keyboard\.press|page\.(evaluate|extract|hover|info|select|snapshot|wait)|` +
	`browser\.(extract_elements|run_javascript)|debug\.run_javascript)$`)

// leavesNothing reports whether another page may have the tab after this one.
func (e expectation) leavesNothing(page []byte) bool {
	if e.Browser != "" || leaves.Match(page) || clipboardUse.Match(page) || counted.Match(page) {
		return false
	}
	return !slices.ContainsFunc(e.Calls, func(c pageCall) bool { return !harmless.MatchString(c.Name) })
}

func runPage(
	t *testing.T, registry *primitives.Registry, tab *browser.Tab, url string, e expectation, profile string,
) (problems []string) {
	t.Helper()
	v := e.Viewport
	if v.Width == 0 {
		v = viewport{1280, 720}
	}
	metrics := map[string]any{"width": v.Width, "height": v.Height, "deviceScaleFactor": 1, "mobile": false}
	if err := tab.Raw(within(t, 10*time.Second), "Emulation.setDeviceMetricsOverride", metrics, nil); err != nil {
		t.Fatal(err)
	}
	open(t, tab, url)
	if e.autofocus {
		// The browser gives the focus with a frame of its own, after the load event.
		_, err := tab.Evaluate(
			within(t, 10*time.Second),
			"new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))",
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	set, ok := quirks.Profile(profile)
	if !ok {
		t.Fatalf("there is no profile %q", profile)
	}
	page := primitives.WithQuirks(tab, set)
	saved := map[string]any{}
	for i, c := range e.Calls {
		at := fmt.Sprintf("call %d, %s", i+1, c.Name)
		args, err := substitute(c.Args, saved)
		if err != nil {
			return append(problems, at+": "+err.Error())
		}
		ctx, cancel := context.WithTimeout(
			context.Background(), cmp.Or(time.Duration(c.TimeoutMS)*time.Millisecond, time.Minute),
		)
		r := registry.Invoke(ctx, page, c.Name, args)
		cancel()
		var payload any
		if len(r.Payload) > 0 {
			if err := json.Unmarshal(r.Payload, &payload); err != nil {
				problems = append(problems, fmt.Sprintf("%s: the payload is not JSON: %v", at, err))
			}
		}
		code := ""
		if r.Err != nil {
			code = string(r.Err.Code)
		}
		if code != c.Error {
			cause := ""
			if r.Err != nil {
				cause = r.Err.Error()
			}
			problems = append(
				problems,
				fmt.Sprintf("%s with %s: got error %q, want %q: %s %.600s", at, args, code, c.Error, cause, r.Payload),
			)
			continue
		}
		if c.Expect != nil {
			if diff := subset("payload", c.Expect, payload); diff != "" {
				problems = append(problems, fmt.Sprintf("%s with %s: %s\n\tin %.2000s", at, args, diff, r.Payload))
			}
		}
		if c.Evidence != nil {
			var encoded struct {
				Evidence any `json:"evidence"`
			}
			b, err := json.Marshal(r.Err)
			if err == nil {
				err = json.Unmarshal(b, &encoded)
			}
			if err != nil {
				problems = append(problems, fmt.Sprintf("%s: the error does not encode: %v", at, err))
			} else if diff := subset("evidence", c.Evidence, encoded.Evidence); diff != "" {
				problems = append(problems, fmt.Sprintf("%s with %s: %s\n\tin %.2000s", at, args, diff, b))
			}
		}
		if c.Then != "" {
			got, err := tab.Eval(within(t, 30*time.Second), "", c.Then)
			if err != nil || got != "true" {
				problems = append(problems, fmt.Sprintf("%s with %s: then %s is %s, %v", at, args, c.Then, got, err))
			}
		}
		if c.Save != "" {
			saved[c.Save] = payload
		}
	}
	return problems
}

// substitute replaces strings "$name.path" by parts of saved payloads.
func substitute(args json.RawMessage, saved map[string]any) (json.RawMessage, error) {
	if !bytes.Contains(args, []byte(`"$`)) {
		return args, nil
	}
	var v any
	if err := json.Unmarshal(args, &v); err != nil {
		return nil, err
	}
	var missing error
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for k := range v {
				v[k] = walk(v[k])
			}
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
		case string:
			path, ok := strings.CutPrefix(v, "$")
			if !ok {
				return v
			}
			steps := strings.Split(path, ".")
			if _, ok := saved[steps[0]]; !ok {
				return v // an ordinary string that starts so
			}
			var at any = saved
			for _, step := range steps {
				switch a := at.(type) {
				case map[string]any:
					at = a[step]
				case []any:
					i, err := strconv.Atoi(step)
					if err != nil || i < 0 || i >= len(a) {
						missing = fmt.Errorf("%s is not there", v)
						return nil
					}
					at = a[i]
				default:
					missing = fmt.Errorf("%s is not there", v)
					return nil
				}
			}
			return at
		}
		return v
	}
	out, err := json.Marshal(walk(v))
	return out, errors.Join(missing, err)
}

// subset says where got lacks something of want, "" when nowhere. Objects are
// compared by the members that want has; arrays whole, unless want is
// {"$contains": element} or {"$length": n}; numbers within 0.51 (half a pixel
// and rounding); {"$regex": r} matches strings, {"$absent": true} wants no
// such member, {"$gt": n} and {"$lt": n} compare numbers.
func subset(at string, want, got any) string {
	differs := func() string {
		w, _ := json.Marshal(want)
		g, _ := json.Marshal(got)
		return fmt.Sprintf("%s: got %.300s, want %s", at, g, w)
	}
	switch w := want.(type) {
	case map[string]any:
		if len(w) == 1 {
			if diff, special := operator(at, w, got, differs); special {
				return diff
			}
		}
		g, ok := got.(map[string]any)
		if !ok {
			return differs()
		}
		for _, k := range slices.Sorted(maps.Keys(w)) {
			v, there := g[k]
			if o, ok := w[k].(map[string]any); ok && o["$absent"] == true {
				if there {
					return fmt.Sprintf("%s.%s: is there, want none", at, k)
				}
				continue
			}
			if !there {
				return fmt.Sprintf("%s.%s: is missing", at, k)
			}
			if diff := subset(at+"."+k, w[k], v); diff != "" {
				return diff
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return differs()
		}
		for i := range w {
			if diff := subset(fmt.Sprintf("%s[%d]", at, i), w[i], g[i]); diff != "" {
				return diff
			}
		}
	case float64:
		if g, ok := got.(float64); !ok || math.Abs(g-w) > 0.51 {
			return differs()
		}
	default:
		if want != got {
			return differs()
		}
	}
	return ""
}

func operator(at string, w map[string]any, got any, differs func() string) (diff string, special bool) {
	for op, operand := range w {
		number, isNumber := got.(float64)
		limit, _ := operand.(float64)
		ok := false
		switch op {
		case "$contains":
			list, _ := got.([]any)
			ok = slices.ContainsFunc(list, func(v any) bool { return subset(at, operand, v) == "" })
		case "$length":
			list, isList := got.([]any)
			ok = isList && float64(len(list)) == limit
		case "$regex":
			text, isText := got.(string)
			re, err := regexp.Compile(fmt.Sprint(operand))
			ok = isText && err == nil && re.MatchString(text)
		case "$gt":
			ok = isNumber && number > limit
		case "$lt":
			ok = isNumber && number < limit
		default:
			return "", false
		}
		if !ok {
			return differs(), true
		}
	}
	return "", true
}

// readKnownFailures reads lines "case # reason".
func readKnownFailures(t *testing.T) map[string]string {
	t.Helper()
	known := map[string]string{}
	b, err := os.ReadFile(knownFailures)
	if errors.Is(err, fs.ErrNotExist) {
		return known
	}
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, ok := strings.Cut(line, "#")
		name = strings.TrimSpace(name)
		if !ok || strings.TrimSpace(reason) == "" {
			t.Errorf("known-failures.txt: %q has no reason", line)
		}
		known[name] = strings.TrimSpace(reason)
		if _, err := os.Stat(filepath.Join(pagesRoot, filepath.FromSlash(name)+".html")); err != nil {
			t.Errorf("known-failures.txt: there is no page %s", name)
		}
	}
	return known
}

func TestSubset(t *testing.T) {
	for _, c := range []struct {
		name, want, got string
		ok              bool
	}{
		{"members", `{"a":1}`, `{"a":1,"b":2}`, true},
		{"missing member", `{"a":1}`, `{"b":1}`, false},
		{"null is a value", `{"a":null}`, `{}`, false},
		{"nested", `{"a":{"b":[1,"x"]}}`, `{"a":{"b":[1.5,"x"],"c":0}}`, true},
		{"numbers differ", `1`, `1.52`, false},
		{"array length", `[1]`, `[1,2]`, false},
		{"contains", `{"$contains":{"a":1}}`, `[{"a":2},{"a":1,"b":1}]`, true},
		{"contains not", `{"$contains":3}`, `[1,5]`, false},
		{"regex", `{"a":{"$regex":"^x"}}`, `{"a":"xy"}`, true},
		{"regex not", `{"$regex":"^x"}`, `"yx"`, false},
		{"absent", `{"a":{"$absent":true}}`, `{"b":1}`, true},
		{"absent not", `{"a":{"$absent":true}}`, `{"a":null}`, false},
		{"type", `"1"`, `1`, false},
		{"greater", `{"$gt":0}`, `1`, true},
		{"length", `{"$length":2}`, `[1,2]`, true},
	} {
		var want, got any
		if err := errors.Join(json.Unmarshal([]byte(c.want), &want), json.Unmarshal([]byte(c.got), &got)); err != nil {
			t.Fatal(err)
		}
		if diff := subset("$", want, got); (diff == "") != c.ok {
			t.Errorf("%s: %s in %s gave %q", c.name, c.want, c.got, diff)
		}
	}
}
