package runtime_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/runtime"
)

// hostCase is what a page says of itself in
// <script type="application/json" id="expect-host">: calls that need the
// runtime behind the page, which the page table of package browser has not.
type hostCase struct {
	About string `json:"about"`
	Calls []struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
		// Key is that of the call, and Repeated says that it gets the answer of an earlier one.
		Key      string `json:"idempotency_key"`
		Repeated bool   `json:"repeated"`
		hostOutcome
		// Extension is what comes of it in the extension profile, in place of
		// the members above. A page with one is walked in both profiles.
		Extension *hostOutcome `json:"extension"`
		// Profile, when given, is the only profile in which the call is made.
		Profile string `json:"profile"`
		// Events are those that must follow the call, in this order, others
		// between them; Payload is a subset.
		Events []struct {
			Name    string `json:"name"`
			Payload any    `json:"payload"`
		} `json:"events"`
	} `json:"calls"`
}

type hostOutcome struct {
	Expect   any    `json:"expect"` // subset of the payload
	Error    string `json:"error"`
	Evidence any    `json:"evidence"` // subset of the error's evidence
	Then     string `json:"then"`     // expression in the page's own world that must be true
}

func (c hostCase) profiles() []string {
	for _, call := range c.Calls {
		if call.Extension != nil || call.Profile != "" {
			return []string{quirks.StrictProfile, quirks.ExtensionProfile}
		}
	}
	return []string{quirks.StrictProfile}
}

var hostScript = regexp.MustCompile(`(?s)<script type="application/json" id="expect-host">(.*?)</script>`)

// TestSessionPages makes the calls of every page below testdata/pages that
// needs a host, through a host, on a tab of its own.
func TestSessionPages(t *testing.T) {
	const root = "../testdata/pages"
	pages, err := filepath.Glob(root + "/*/*.html")
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.FileServer(http.Dir(root)))
	t.Cleanup(s.Close)
	found := 0
	for _, path := range pages {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m := hostScript.FindSubmatch(text)
		if m == nil {
			continue
		}
		found++
		rel, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		rel = filepath.ToSlash(rel)
		t.Run(strings.TrimSuffix(rel, ".html"), func(t *testing.T) {
			t.Parallel()
			var c hostCase
			d := json.NewDecoder(bytes.NewReader(m[1]))
			d.DisallowUnknownFields()
			if err := d.Decode(&c); err != nil {
				t.Fatalf("the expectation does not parse: %v", err)
			}
			if c.About == "" || len(c.Calls) == 0 {
				t.Fatal("the expectation says nothing")
			}
			for _, profile := range c.profiles() {
				runHostCase(t, c, s.URL+"/", rel, profile)
			}
		})
	}
	if found == 0 {
		t.Error("found no page: the test does not see the table")
	}
}

func runHostCase(t *testing.T, c hostCase, pages, rel, profile string) {
	t.Helper()
	set, ok := quirks.Profile(profile)
	if !ok {
		t.Fatalf("there is no profile %q", profile)
	}
	opening := open
	if strings.HasPrefix(rel, "clipboard/") { // what the browser's own clipboard has
		opening = launched
	}
	opts := runtime.Options{Open: []string{pages + rel}, Quirks: set}
	if strings.HasPrefix(rel, "webmcp/") {
		opening, opts.Browser.PageTools = launched, true
	}
	h := opening(t, opts)
	events := make(chan runtime.Event, 200)
	defer h.Subscribe(func(ev runtime.Event) {
		select {
		case events <- ev:
		default:
		}
	})()
	for i, call := range c.Calls {
		if call.Profile != "" && call.Profile != profile {
			continue
		}
		want := call.hostOutcome
		if call.Extension != nil && profile == quirks.ExtensionProfile {
			want = *call.Extension
		}
		at := fmt.Sprintf("%s: call %d, %s with %s", profile, i+1, call.Name, call.Args)
		r := h.Do(t.Context(), runtime.Call{
			ID:             newID(),
			Target:         first(t, h),
			Name:           call.Name,
			Arguments:      json.RawMessage(strings.ReplaceAll(string(call.Args), "{pages}", pages)),
			Timeout:        20 * time.Second,
			IdempotencyKey: call.Key,
		})
		if r.Repeated != call.Repeated {
			t.Errorf("%s: repeated is %v", at, r.Repeated)
		}
		if got := fault.CodeOf(r.Err); string(got) != want.Error {
			t.Errorf("%s: got error %q, want %q: %v %.600s", at, got, want.Error, r.Err, r.Output)
			continue
		}
		var evidence any
		if r.Err != nil {
			evidence = decoded(t, r.Err.Evidence)
		}
		if diff := missing(want.Evidence, evidence); diff != "" {
			t.Errorf("%s: evidence %s", at, diff)
		}
		if r.Err == nil {
			if diff := missing(want.Expect, any(value(t, r))); diff != "" {
				t.Errorf("%s: %s\n\tin %.1000s", at, diff, r.Output)
			}
		}
		for _, e := range call.Events {
			timer := time.NewTimer(20 * time.Second)
			seen, differs := false, ""
			for !seen {
				select {
				case ev := <-events:
					seen = ev.Kind == runtime.DOMEvent && ev.Name == e.Name
					if seen {
						differs = missing(e.Payload, decoded(t, ev.Payload))
					}
				case <-timer.C:
					t.Fatalf("%s: no event %s followed", at, e.Name)
				}
			}
			timer.Stop()
			if differs != "" {
				t.Errorf("%s: event %s %s", at, e.Name, differs)
			}
		}
		if want.Then != "" {
			args, _ := json.Marshal(map[string]string{"source": "return (" + want.Then + ")"})
			if v := value(t, do(t, h, "debug.run_javascript", string(args), 10*time.Second)); v["result"] != true {
				t.Errorf("%s: then %s is %v", at, want.Then, v["result"])
			}
		}
	}
}

func decoded(t *testing.T, v any) any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// missing says where got lacks something of want, "" when nowhere: objects are
// compared by the members of want, lists whole. {"$gt": n} is a greater number,
// {"$regex": r} a matching string, {"$absent": true} no such member.
func missing(want, got any) string {
	differs := fmt.Sprintf("got %.300v, want %v", got, want)
	switch w := want.(type) {
	case nil:
		return ""
	case map[string]any:
		if limit, ok := w["$gt"].(float64); ok {
			if g, ok := got.(float64); ok && g > limit {
				return ""
			}
			return differs
		}
		if r, ok := w["$regex"].(string); ok {
			if g, ok := got.(string); ok && regexp.MustCompile(r).MatchString(g) {
				return ""
			}
			return differs
		}
		g, ok := got.(map[string]any)
		if !ok {
			return differs
		}
		for k, v := range w {
			have, there := g[k]
			if o, ok := v.(map[string]any); ok && o["$absent"] == true {
				if there {
					return k + " is there, want none"
				}
				continue
			}
			if !there {
				return k + " is missing"
			}
			if v == nil && have != nil {
				return fmt.Sprintf("%s: got %v, want null", k, have)
			}
			if diff := missing(v, have); diff != "" {
				return k + ": " + diff
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return differs
		}
		for i := range w {
			if diff := missing(w[i], g[i]); diff != "" {
				return fmt.Sprintf("[%d]: %s", i, diff)
			}
		}
		return ""
	}
	if want != got {
		return differs
	}
	return ""
}
