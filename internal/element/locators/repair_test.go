package locators_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/internal/element/locators"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/descriptor"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

const pagesRoot = "../../../testdata/pages"

// A mutation is what a new release of a page does to one element, as a function of
// that element. It returns false where it cannot be done.
type mutation struct {
	name       string
	repairable bool // the element is still there, and can be told from the others
	script     string
}

// gone drops what most selectors name, so that nothing of it helps.
// A label goes on pointing at its control: a framework gives both a new id.
const gone = `const drop = () => {
  for (const n of ['data-testid', 'data-test', 'data-qa']) t.removeAttribute(n);
  const id = t.getAttribute('id');
  t.removeAttribute('id');
  if (!id) return;
  const refers = [...document.querySelectorAll('[for], [aria-labelledby]')].filter((e) => e.getAttribute('for') === id || e.getAttribute('aria-labelledby') === id);
  for (const e of refers) e.setAttribute(e.hasAttribute('for') ? 'for' : 'aria-labelledby', ':r7:');
  if (refers.length > 0) t.setAttribute('id', ':r7:');
};
const other = () => { const p = t.parentElement; return p && p !== document.documentElement ? p : null; };
const label = () => [...t.childNodes].find((n) => n.nodeType === 3 && n.data.trim() !== '') || null;
`

var mutations = []mutation{
	{"id is renamed", true, `if (!t.id) return false; drop(); t.id = t.id ? ':r8:' : 'renamed-field'; ` +
		`for (const e of document.querySelectorAll('[for=":r7:"]')) e.setAttribute('for', ':r8:'); for (const e of ` +
		`document.querySelectorAll('[aria-labelledby=":r7:"]')) e.setAttribute('aria-labelledby', ':r8:'); ` +
		`return true;`},
	{"id and test id are gone", true, `if (!t.id && !t.dataset.testid) return false; drop(); return true;`},
	{
		"name attribute is renamed", true,
		`if (!t.hasAttribute('name')) return false; drop(); t.setAttribute('name', 'other_field'); return true;`,
	},
	{"all classes are built anew", true, `drop(); let i = 0; for (const e of document.querySelectorAll('[class]')) ` +
		`e.className = 'css-' + (4096 + i++).toString(16) + 'z9'; t.className = 'sc-a1b2c3 x9y8z7'; return true;`},
	{"wrapped in two elements", true, `const p = other(); if (!p || t === document.body || ` +
		`/^(li|tr|td|th|option|tbody|dt|dd)$/i.test(t.tagName)) return false; drop(); ` +
		`const a = document.createElement('div'), b = document.createElement('span'); a.append(b); t.replaceWith(a); ` +
		`b.append(t); return true;`},
	{"moved to the end of the page", true, `if (t === document.body || /^(li|tr|td|th|option|area|legend|` +
		`summary)$/i.test(t.tagName)) return false; drop(); document.body.append(t); return true;`},
	{
		"moved to the start of its parent", true,
		`const p = other(); if (!p || p.firstElementChild === t) return false; drop(); p.prepend(t); return true;`,
	},
	{
		"a word is added to its label", true,
		`const n = label(); if (!n) return false; drop(); n.data = n.data.trimEnd() + ' now'; return true;`,
	},
	{"its label is another", true, `const n = label(); if (!n || !t.id) return false; n.data = 'Completely different ` +
		`wording'; t.className = 'renewed'; return true;`},
	{"another tag with the same role", true, `if (t.tagName !== 'BUTTON' && t.tagName !== 'A') return false; drop(); ` +
		`const e = document.createElement('div'); e.setAttribute('role', t.tagName === 'A' ? 'link' : 'button'); ` +
		`e.tabIndex = 0; for (const n of ['aria-label', 'title', 'class', 'data-harness']) if (t.hasAttribute(n)) ` +
		`e.setAttribute(n, t.getAttribute(n)); e.append(...t.childNodes); t.replaceWith(e); return true;`},
	{"a neighbour of its kind comes before it", true, `const n = label(); if (!n) return false; drop(); ` +
		`const e = t.cloneNode(true); e.removeAttribute('data-harness'); e.removeAttribute('aria-label'); ` +
		`e.removeAttribute('aria-labelledby'); for (const c of e.childNodes) if (c.nodeType === 3 && c.data.trim()) ` +
		`c.data = 'Something else'; t.before(e); return true;`},
	{"containers change their tags", true, `drop(); for (const d of [...document.body.querySelectorAll('div, ` +
		`section, p')]) { if (d === t || d.contains(t) === false || d.shadowRoot) continue; ` +
		`const e = document.createElement(d.tagName === 'DIV' ? 'section' : 'div'); for (const a of d.attributes) ` +
		`e.setAttribute(a.name, a.value); e.append(...d.childNodes); d.replaceWith(e); } return true;`},
	{"all neighbours have other text", true, `drop(); for (const s of t.parentElement ? t.parentElement.children : ` +
		`[]) if (s !== t && s.children.length === 0 && s.textContent.trim() && !s.contains(t) && !(t.labels && ` +
		`[...t.labels].includes(s))) s.textContent = 'Reworded'; return true;`},
	{"removed", false, `if (t === document.body) return false; t.remove(); return true;`},
	{"removed, one of its kind with another label is there", false, `const n = label(); if (!n) return false; ` +
		`n.data = 'Something else entirely'; drop(); t.removeAttribute('aria-label'); ` +
		`t.removeAttribute('aria-labelledby'); t.removeAttribute('title'); t.removeAttribute('href'); ` +
		`t.removeAttribute('name'); t.removeAttribute('value'); t.removeAttribute('data-harness'); return true;`},
	{"twice there", false, `const e = t.cloneNode(true); e.removeAttribute('data-harness'); t.after(e); return true;`},
}

var scripts = regexp.MustCompile(`(?is)<script\b.*?</script>`)

// harness serves the pages of a folder without their scripts: they are to stand still.
func harness(t *testing.T, root string) string {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := content(filepath.Join(root, filepath.FromSlash(filepath.Clean("/"+r.URL.Path))))
		if err != nil || !isPage(r.URL.Path) {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(scripts.ReplaceAll(b, nil))
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// fixtures is the name of a file with examples of a component, as the GOV.UK design
// system has them. It is a page with the first of them.
const (
	fixtures     = "fixtures.json"
	mostFixtures = 6
)

func isPage(path string) bool {
	return strings.HasSuffix(path, ".html") || filepath.Base(path) == fixtures
}

func content(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil || filepath.Base(path) != fixtures {
		return b, err
	}
	var in struct {
		Component string
		Fixtures  []struct{ Name, HTML string }
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return nil, err
	}
	out := "<!doctype html><title>" + in.Component + "</title><main>"
	for _, f := range in.Fixtures[:min(len(in.Fixtures), mostFixtures)] {
		out += "<section>" + f.HTML + "</section>"
	}
	return []byte(out + "</main>"), nil
}

// pages are those of a folder with the most controls, at most so many of it and so many
// of each folder in it.
func pages(t *testing.T, root string, most, each int) []string {
	control := regexp.MustCompile(`<(?:button|input|a |select|textarea|h[1-3])`)
	type page struct {
		name     string
		controls int
	}
	var all []page
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !isPage(path) {
			return err
		}
		b, err := content(path)
		if n := len(control.FindAll(scripts.ReplaceAll(b, nil), -1)); n >= 3 {
			name, _ := filepath.Rel(root, path)
			all = append(all, page{filepath.ToSlash(name), n})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(all, func(a, b page) int { return b.controls - a.controls })
	var out []string
	of := map[string]int{}
	for _, p := range all {
		folder, _, _ := strings.Cut(p.name, "/")
		if of[folder]++; len(out) < most && of[folder] <= each {
			out = append(out, p.name)
		}
	}
	return out
}

// bare is the row of elements that keep nothing by which a person would know them.
const bare = "nothing left that tells"

// tells reports whether an element still has something that told it before.
func tells(ctx context.Context, t *testing.T, page primitives.Page, handle string, before likeness.Seen) bool {
	t.Helper()
	seen, err := locators.Describe(ctx, page, []string{handle})
	if err != nil || seen[0] == nil {
		return false
	}
	same := before.Name != "" && strings.Contains(seen[0].Name, before.Name) ||
		before.Text != "" && strings.Contains(seen[0].Text, before.Text)
	for _, name := range []string{"id", "name", "data-testid", "placeholder", "title", "alt", "href"} {
		same = same || before.Attributes[name] != "" && before.Attributes[name] == seen[0].Attributes[name]
	}
	return same
}

type tally struct{ cases, right, wrong, none int }

// TestRepairOfMutatedPages changes fixture pages as releases do and counts what is
// proposed. OUTRIDER_REPAIR=all takes every case and prints the table of the docs.
func TestRepairOfMutatedPages(t *testing.T) {
	every, whole := 7, os.Getenv("OUTRIDER_REPAIR") == "all"
	if whole {
		every = 1
	}
	measure(t, pagesRoot, pages(t, pagesRoot, 70, 70), every, whole)
}

// TestRepairOfHeldOutPages does the same to pages of component libraries of npm, on which
// nothing was tuned. make repair fetches them; without them the test is skipped.
func TestRepairOfHeldOutPages(t *testing.T) {
	root := os.Getenv("OUTRIDER_REPAIR_PAGES")
	if root == "" {
		t.Skip("OUTRIDER_REPAIR_PAGES does not name a folder with npm packages: see make repair")
	}
	measure(t, root, pages(t, root, 200, 30), 5, true)
}

// largest is how many elements a page may have: of a larger one not all are compared.
const largest = 1400

// measure changes every so many elements of pages, and holds what is proposed to the
// limits.
func measure(t *testing.T, root string, names []string, every int, whole bool) {
	tab := browsertest.Tab(t)
	base := harness(t, root)
	ctx := browsertest.Within(t, 9*time.Minute)
	sums := map[string]*tally{}
	n, seen := 0, 0
	for _, name := range names {
		_, err := tab.Navigate(ctx, primitives.NavigateOptions{URL: base + "/" + name, LoadTimeout: 20 * time.Second})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if evaluate(ctx, t, tab, `(() => { try { [...document.querySelectorAll('body *')].forEach((e, `+
			`i) => e.setAttribute('data-harness', i)); window.original = document.body.innerHTML; `+
			`return document.querySelectorAll('*').length <= `+fmt.Sprint(largest)+
			`; } catch { return false; } })()`) != "true" {
			continue // it is too large, or its names hide the members that this needs
		}
		seen++
		for _, target := range targets(ctx, t, tab) {
			for _, m := range mutations {
				if n++; n%every != 0 {
					continue
				}
				restore(ctx, t, tab)
				before, remembered, there := described(ctx, t, tab, target)
				if !there {
					break // the parser makes another tree of what it wrote
				}
				did := evaluate(ctx, t, tab, fmt.Sprintf(
					`(() => { try { const t = document.querySelector('[data-harness="%s"]'); %s %s } catch { return `+
						`false; } })()`,
					target, gone, m.script,
				))
				if did != "true" {
					continue
				}
				want := at(ctx, t, tab, target)
				repairable, label := m.repairable && tells(ctx, t, tab, want.Handle, before), m.name
				if m.repairable && !repairable {
					label = bare
				}
				s := sums[label]
				if s == nil {
					s = &tally{}
					sums[label] = s
				}
				s.cases++
				got, choice := propose(ctx, t, tab, remembered)
				switch {
				case got == nil:
					s.none++
					if repairable && whole {
						t.Logf(
							"nothing proposed: %s, %s %q, %s: %.2f, next %.2f",
							name, remembered.Role, remembered.Name, m.name, choice.Likeness, choice.Next,
						)
					}
				case want.Count == 1 && got.Handle == want.Handle:
					s.right++
				default:
					s.wrong++
					t.Logf(
						"wrong: %s, %s %q, %s: %s %q for it (%.2f, next %.2f)", name, remembered.Role,
						remembered.Name, m.name, got.Role, got.Name, choice.Likeness, choice.Next,
					)
				}
			}
		}
	}
	var table strings.Builder
	var repairable, unrepairable tally
	row := func(name string, s tally) {
		fmt.Fprintf(&table, "| %s | %d | %d | %d | %d |\n", name, s.cases, s.right, s.wrong, s.none)
	}
	for _, m := range append(mutations, mutation{name: bare}) {
		s := sums[m.name]
		if s == nil {
			continue
		}
		row(m.name, *s)
		sum := &unrepairable
		if m.repairable {
			sum = &repairable
		}
		sum.cases += s.cases
		sum.right += s.right
		sum.wrong += s.wrong
		sum.none += s.none
	}
	row("**can be repaired**", repairable)
	row("**cannot be repaired**", unrepairable)
	t.Logf("%d pages\n%s", seen, table.String())
	cases := repairable.cases + unrepairable.cases
	if cases < 200 {
		t.Errorf("%d cases, expected at least 200", cases)
	}
	if share := float64(repairable.right) / float64(repairable.cases); share < 0.9 {
		t.Errorf("right in %.1f %% of %d cases that can be repaired, expected 90 %%", 100*share, repairable.cases)
	}
	if share := float64(repairable.wrong+unrepairable.wrong) / float64(cases); share > 0.01 {
		t.Errorf("wrong in %.1f %% of %d cases, expected at most 1 %%", 100*share, cases)
	}
}

func evaluate(ctx context.Context, t *testing.T, page primitives.Page, expression string) string {
	t.Helper()
	v, err := page.Evaluate(ctx, expression)
	if err != nil {
		t.Fatalf("evaluating %.200s: %v", expression, err)
	}
	return string(v)
}

func restore(ctx context.Context, t *testing.T, page primitives.Page) {
	t.Helper()
	evaluate(ctx, t, page, `(() => { document.body.innerHTML = window.original; })()`)
}

// targets are elements that maps name, by their number, at most four of a page and
// two of a role.
func targets(ctx context.Context, t *testing.T, page primitives.Page) []string {
	t.Helper()
	var list []string
	if err := json.Unmarshal([]byte(evaluate(
		ctx, t, page,
		`[...document.querySelectorAll('button, a[href], input:not([type=hidden]), select, textarea, h1, h2, ' +
			'[role=button], [role=tab], [role=checkbox], [role=link]')]
		.filter((e) => e.checkVisibility()).map((e) => e.dataset.harness)`,
	)), &list); err != nil {
		t.Fatal(err)
	}
	var out []string
	roles := map[string]int{}
	for _, number := range list {
		m := at(ctx, t, page, number)
		seen, err := locators.Describe(ctx, page, []string{m.Handle})
		if err != nil {
			t.Fatal(err)
		}
		s := seen[0]
		if s == nil || s.Name+s.Attributes["id"]+s.Attributes["name"] == "" || roles[s.Role] == 2 || len(out) == 4 {
			continue
		}
		// An element that cannot be told from another one today cannot be remembered.
		live, _, err := locators.Live(ctx, page, []likeness.Element{s.Describe(true)})
		if err != nil {
			t.Fatal(err)
		}
		if c := likeness.Best(s.Remember(live, true), live); !c.Sure() || live[c.Index].Handle != m.Handle {
			continue
		}
		roles[s.Role]++
		out = append(out, number)
	}
	return out
}

func at(ctx context.Context, t *testing.T, page primitives.Page, number string) descriptor.Match {
	t.Helper()
	m, err := descriptor.Resolve(ctx, page, descriptor.Descriptor{
		Selector: []string{`[data-harness="` + number + `"]`},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func described(
	ctx context.Context, t *testing.T, page primitives.Page, number string,
) (likeness.Seen, likeness.Element, bool) {
	t.Helper()
	seen, err := locators.Describe(ctx, page, []string{at(ctx, t, page, number).Handle})
	if err != nil {
		t.Fatalf("element %s: %v", number, err)
	}
	if seen[0] == nil {
		return likeness.Seen{}, likeness.Element{}, false
	}
	live, _, err := locators.Live(ctx, page, []likeness.Element{seen[0].Describe(true)})
	if err != nil {
		t.Fatal(err)
	}
	return *seen[0], seen[0].Remember(live, true), true
}

// propose is what repair would put into the map: an element that it is sure of, and
// that has a name of its own.
func propose(
	ctx context.Context, t *testing.T, page primitives.Page, remembered likeness.Element,
) (*likeness.Seen, likeness.Choice) {
	t.Helper()
	live, complete, err := locators.Live(ctx, page, []likeness.Element{remembered})
	if err != nil || !complete {
		t.Fatalf("complete %v, %v", complete, err)
	}
	c := likeness.Best(remembered, live)
	if !c.Sure() {
		return nil, c
	}
	names, err := locators.Unique(ctx, page, live[c.Index])
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		return nil, c
	}
	return &live[c.Index], c
}
