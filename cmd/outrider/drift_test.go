package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
)

// driftData holds the pairs: two versions of a page, a map that was written on the old one, and what each
// action and check must be on the new one.
const driftData = "../../testdata/drift"

// What actions and checks are on the new version.
const (
	stillRight = "right"    // it does its work as it is
	repaired   = "repaired" // an action that goes on with the element that is its own
	proposed   = "proposed" // a check that stays red, with a change that somebody has to read
	red        = "red"
)

// driftPair is drift.json of one pair.
type driftPair struct {
	name string

	// Open is the page, below the folder of a version.
	Open string `json:"open"`
	// Packages are what the pages load from /npm/. They say which versions the pair is of.
	Packages []string `json:"packages"`
	// Old and New are folders of packages. A pair without them has the pages old.html and new.html.
	Old string `json:"old"`
	New string `json:"new"`

	Actions []driftAction `json:"actions"`
	Checks  []driftCheck  `json:"checks"`
}

type driftAction struct {
	Name   string          `json:"name"`
	Action string          `json:"action"`
	Args   json.RawMessage `json:"args"`
	Expect json.RawMessage `json:"expect"`
	// Touches are the elements of the new page that the action may press and write into, in order.
	Touches []string `json:"touches"`
	OnNew   string   `json:"on_new"`
}

type driftCheck struct {
	ID    string `json:"id"`
	OnOld string `json:"on_old"`
	OnNew string `json:"on_new"`
	// Wrong is a script that makes the new page one for which the check must be red.
	Wrong string `json:"wrong"`
}

// TestVersionPairs runs maps that were written on an old version of a library on its new one. make drift fetches
// the packages; without them the test is skipped.
func TestVersionPairs(t *testing.T) {
	packages := os.Getenv("OUTRIDER_DRIFT_PACKAGES")
	if packages == "" {
		t.Skip("OUTRIDER_DRIFT_PACKAGES does not name a folder with npm packages: see make drift")
	}

	browser := browsertest.Running(t)
	files, err := filepath.Glob(driftData + "/*/drift.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no pairs in %s: %v", driftData, err)
	}

	var table strings.Builder
	for _, file := range files {
		pair := readPair(t, file)
		t.Run(pair.name, func(t *testing.T) {
			site := &driftSite{pair: pair, packages: packages, touched: map[string][]touch{}}
			site.serve(t)
			actions, checks := site.judge(t, browser)

			fmt.Fprintf(&table, "| %s | %s | %s | %s |\n", pair.name, strings.Join(pair.Packages, ", "),
				counted(actions, stillRight, repaired, red), counted(checks, stillRight, proposed, red))
		})
	}
	t.Logf("\n| pair | packages | actions: right, repaired, red | checks: right, proposed, red |\n"+
		"|---|---|---|---|\n%s", table.String())
}

func readPair(t *testing.T, file string) *driftPair {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}

	pair := &driftPair{name: filepath.Base(filepath.Dir(file))}
	if err := json.Unmarshal(text, pair); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return pair
}

// counted is how many have each of the results, as the cell of a table.
func counted(results map[string]string, kinds ...string) string {
	var cells []string
	for _, kind := range kinds {
		n := 0
		for _, got := range results {
			if got == kind {
				n++
			}
		}
		cells = append(cells, fmt.Sprint(n))
	}
	return strings.Join(cells, ", ")
}

// touch is one element that was pressed or written into.
type touch struct {
	Event string `json:"event"`
	// Index is that of the first of the action's elements that holds it; -1 is another element.
	Index   int    `json:"index"`
	Element string `json:"element"`
}

// driftSite serves one pair, one version at a time, at the same addresses.
type driftSite struct {
	pair     *driftPair
	packages string
	origin   string
	folder   string // of the map and its plans

	mu      sync.Mutex
	version string
	touched map[string][]touch // by the action
}

func (s *driftSite) serve(t *testing.T) {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/npm/", http.StripPrefix("/npm/", http.FileServer(http.Dir(s.packages))))
	mux.HandleFunc("POST /touched", s.take)
	mux.HandleFunc("/", s.page)

	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.origin = server.URL
	s.folder = t.TempDir()
}

func (s *driftSite) use(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = version
}

func (s *driftSite) take(w http.ResponseWriter, r *http.Request) {
	var one touch
	if err := json.NewDecoder(r.Body).Decode(&one); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	name := r.URL.Query().Get("case")
	s.touched[name] = append(s.touched[name], one)
}

// page is a file of the version that is served. The page of an action tells what is touched, before anything
// follows from it.
func (s *driftSite) page(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	version := s.version
	s.mu.Unlock()

	folder := s.pair.Old
	if version == "new" {
		folder = s.pair.New
	}
	file := filepath.Join(s.packages, filepath.FromSlash(folder), filepath.FromSlash(r.URL.Path))
	if folder == "" {
		file = filepath.Join(driftData, s.pair.name, version+".html")
	}

	text, err := os.ReadFile(file)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	if script := s.script(r.URL.Query()); script != "" {
		text = bytes.Replace(text, []byte("<title"), []byte("<script>"+script+"</script><title"), 1)
	}

	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", mime.TypeByExtension(filepath.Ext(file)))
	_, _ = w.Write(text)
}

// telling is a script that tells of each element which is pressed, written into or chosen from, with a request that
// the event waits for: nothing is lost when the page goes.
const telling = `for (const type of ['mousedown', 'input', 'change']) addEventListener(type, (event) => {
  const first = event.composedPath()[0];
  const element = first.nodeType === 1 ? first : first.parentElement;
  const index = %s.findIndex((selector) => element.closest(selector));
  const chosen = type === 'change' && element.matches('select') && index >= 0;
  if (!event.isTrusted && !chosen || type === 'change' && !chosen) return;
  const request = new XMLHttpRequest();
  request.open('POST', '/touched?case=%s', false);
  request.send(JSON.stringify({event: type, index, element: element.outerHTML.slice(0, 120)}));
}, true);`

// script is what is added to a page: what tells of an action, or what makes the page wrong.
func (s *driftSite) script(query url.Values) string {
	for _, a := range s.pair.Actions {
		if a.Name == query.Get("case") {
			touches, _ := json.Marshal(a.Touches)
			return fmt.Sprintf(telling, touches, a.Name)
		}
	}
	for _, c := range s.pair.Checks {
		if c.ID == query.Get("wrong") && c.Wrong != "" {
			return "addEventListener('load', () => setTimeout(() => {" + c.Wrong + "}));"
		}
	}
	return ""
}

// judge runs everything on the old version, which it has to fit, and then on the new one.
func (s *driftSite) judge(t *testing.T, browser string) (actions, checks map[string]string) {
	s.writeMap(t, "actions.json", nil)
	s.writePlans(t)

	s.use("old")
	for name, got := range s.runActions(t, browser, "--update-lock") {
		if got != stillRight {
			t.Errorf("%s is %s on the old version, expected right", name, got)
		}
	}
	onOld, _ := s.runChecks(t, browser, "actions.json", "", "--update-lock")
	for _, c := range s.pair.Checks {
		if expected := orRight(c.OnOld); onOld[c.ID] != expected {
			t.Errorf("check %s is %s on the old version, expected %s", c.ID, onOld[c.ID], expected)
		}
	}

	clear(s.touched)
	s.use("new")
	actions = s.runActions(t, browser, "--heal")
	for _, a := range s.pair.Actions {
		if actions[a.Name] != a.OnNew {
			t.Errorf("%s is %s on the new version, expected %s", a.Name, actions[a.Name], a.OnNew)
		}
		s.judgeTouched(t, a, actions[a.Name])
	}

	checks, diffs := s.runChecks(t, browser, "actions.json", "")
	for _, c := range s.pair.Checks {
		if checks[c.ID] != c.OnNew {
			t.Errorf("check %s is %s on the new version, expected %s", c.ID, checks[c.ID], c.OnNew)
		}
		s.judgeWrong(t, browser, c, diffs[c.ID])
	}
	return actions, checks
}

func orRight(result string) string {
	if result == "" {
		return stillRight
	}
	return result
}

// judgeTouched holds an action to its elements: it touches no other, none before its turn, and all of them when
// it is done.
func (s *driftSite) judgeTouched(t *testing.T, a driftAction, result string) {
	t.Helper()
	s.mu.Lock()
	touched := slices.Clone(s.touched[a.Name])
	s.mu.Unlock()

	reached := map[int]bool{}
	last := 0
	for _, one := range touched {
		if one.Index < last {
			t.Errorf("%s touches another element (%s after element %d): %s", a.Name, one.Event, last, one.Element)
			return
		}
		last = one.Index
		reached[one.Index] = true
	}
	if result != red && len(reached) != len(a.Touches) {
		t.Errorf(
			"%s is %s and touches %v of %d elements", a.Name, result, slices.Sorted(maps.Keys(reached)), len(a.Touches),
		)
	}
}

// judgeWrong puts the new page into a state for which a check must be red: it is, also with what is proposed.
func (s *driftSite) judgeWrong(t *testing.T, browser string, c driftCheck, diff string) {
	t.Helper()
	if c.Wrong == "" {
		if diff != "" {
			t.Errorf("check %s has a proposal, and no state that shows that it can fail", c.ID)
		}
		return
	}

	results, _ := s.runChecks(t, browser, "actions.json", c.ID)
	if results[c.ID] == stillRight {
		t.Errorf("check %s passes on a page that is wrong", c.ID)
	}
	if diff == "" {
		return
	}
	s.writeMap(t, "proposed.json", func(text string) string { return patched(t, text, diff) })
	results, _ = s.runChecks(t, browser, "proposed.json", "")
	if results[c.ID] != stillRight {
		t.Errorf("check %s is %s with what is proposed for it", c.ID, results[c.ID])
	}
	results, _ = s.runChecks(t, browser, "proposed.json", c.ID)
	if results[c.ID] == stillRight {
		t.Errorf("check %s passes on a page that is wrong, with what is proposed:\n%s", c.ID, diff)
	}
}

// patched is a text with the changes of a diff of it.
func patched(t *testing.T, text, diff string) string {
	t.Helper()
	var before, after strings.Builder
	apply := func() {
		if strings.Count(text, before.String()) != 1 && before.Len() > 0 {
			t.Fatalf("a part of the diff fits at %d places:\n%s", strings.Count(text, before.String()), before.String())
		}
		text = strings.Replace(text, before.String(), after.String(), 1)
		before.Reset()
		after.Reset()
	}

	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
		case strings.HasPrefix(line, "@@"):
			apply()
		case strings.HasPrefix(line, "-"):
			before.WriteString(line[1:])
		case strings.HasPrefix(line, "+"):
			after.WriteString(line[1:])
		default:
			before.WriteString(line[1:])
			after.WriteString(line[1:])
		}
	}
	apply()
	return text
}

// writeMap writes the map of the pair for the address at which it is served.
func (s *driftSite) writeMap(t *testing.T, name string, change func(string) string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(driftData, s.pair.name, "actions.json"))
	if err != nil {
		t.Fatal(err)
	}

	here := strings.Replace(string(text), "http://drift.example", s.origin, 1)
	if change != nil {
		here = change(here)
	}
	s.write(t, name, []byte(here))
}

// writePlans writes a plan for each action.
func (s *driftSite) writePlans(t *testing.T) {
	t.Helper()
	for _, a := range s.pair.Actions {
		step := map[string]any{"action": a.Action, "args": a.Args}
		if a.Expect != nil {
			step["expect"] = []json.RawMessage{a.Expect}
		}
		text, err := json.Marshal(map[string]any{
			"name":  a.Name,
			"open":  s.origin + "/" + s.pair.Open + "?case=" + a.Name,
			"maps":  []string{"../actions.json"},
			"steps": []any{step},
		})
		if err != nil {
			t.Fatal(err)
		}
		s.write(t, filepath.Join("plans", a.Name+".plan.json"), text)
	}
}

func (s *driftSite) write(t *testing.T, name string, text []byte) {
	t.Helper()
	file := filepath.Join(s.folder, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// runActions runs the plans and says what each action is.
func (s *driftSite) runActions(t *testing.T, browser, flag string) map[string]string {
	t.Helper()
	var out struct {
		Cases []struct {
			Name    string `json:"name"`
			Outcome string `json:"outcome"`
			Steps   []struct {
				Healed string `json:"healed"`
				Error  struct {
					Message string `json:"message"`
				} `json:"error"`
			} `json:"steps"`
		} `json:"cases"`
	}
	s.outrider(t, &out, "run", filepath.Join(s.folder, "plans"), "--attach", browser, "--isolated", "--json", flag)

	results := map[string]string{}
	for _, c := range out.Cases {
		results[c.Name] = red
		if c.Outcome == "passed" {
			results[c.Name] = stillRight
		}
		for _, step := range c.Steps {
			if c.Outcome == "passed" && step.Healed != "" {
				results[c.Name] = repaired
			}
			t.Logf("%s %s: %s%s", c.Name, results[c.Name], step.Error.Message, step.Healed)
		}
	}
	if len(results) != len(s.pair.Actions) {
		t.Fatalf("%d results of %d actions", len(results), len(s.pair.Actions))
	}
	return results
}

// runChecks runs the checks of a map, on a page that is wrong for one of them where that is named. It says what
// each check is, and what is proposed for it.
func (s *driftSite) runChecks(
	t *testing.T, browser, mapName, wrong string, flags ...string,
) (results, diffs map[string]string) {
	t.Helper()
	var out struct {
		Pages []struct {
			Checks []struct {
				ID     string `json:"check_id"`
				Status string `json:"status"`
			} `json:"checks"`
		} `json:"pages"`
		Repairs []struct {
			Checks   []string `json:"checks"`
			Diff     string   `json:"diff"`
			Proposed bool     `json:"proposed"`
		} `json:"repairs"`
	}
	address := s.origin + "/" + s.pair.Open
	if wrong != "" {
		address += "?wrong=" + wrong
	}
	args := append([]string{"check", "--open", address, "--maps", filepath.Join(s.folder, mapName)},
		append(flags, "--attach", browser, "--isolated", "--json")...)
	s.outrider(t, &out, args...)

	results = map[string]string{}
	diffs = map[string]string{}
	for _, page := range out.Pages {
		for _, c := range page.Checks {
			results[c.ID] = red
			if c.Status == "passed" || c.Status == "drifted" {
				results[c.ID] = stillRight
			}
		}
	}
	for _, r := range out.Repairs {
		for _, id := range r.Checks {
			if results[id] == red && r.Proposed {
				results[id] = proposed
			}
			diffs[id] = r.Diff
		}
	}
	if len(results) != len(s.pair.Checks) {
		t.Fatalf("%d results of %d checks", len(results), len(s.pair.Checks))
	}
	return results, diffs
}

// outrider runs a command and reads what it prints as JSON.
func (s *driftSite) outrider(t *testing.T, into any, args ...string) {
	t.Helper()
	var out, messages bytes.Buffer
	execute(t.Context(), args, strings.NewReader(""), &out, &messages)
	if err := json.Unmarshal(out.Bytes(), into); err != nil {
		t.Fatalf("outrider %s: %v\n%s\n%s", strings.Join(args, " "), err, out.String(), messages.String())
	}
}
