// Package coverage says which controls of a page the actions of its maps reach. It runs no action: a control counts as
// reached when a target of an action names it. The verb coverage calls it.
package coverage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/authoring/inspect"
	"github.com/outrider-run/outrider/authoring/lint"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/internal/element/locators"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/descriptor"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Host is what the pages are open in: a runtime.Host.
type Host interface {
	Visit(ctx context.Context, on runtime.Target, f func(context.Context, primitives.Page) error) error
	Tabs() []runtime.TabStatus
}

// Map is a file whose actions are looked for.
type Map struct {
	File string
	Text []byte
}

// Page is the coverage of one page.
type Page struct {
	URL string `json:"url"`
	// Score is the share of controls that an action reaches, in percent.
	Score      int            `json:"score"`
	Controls   int            `json:"controls"`
	Reached    int            `json:"reached"`
	NotReached []Control      `json:"not_reached"`
	Unknown    []string       `json:"unknown,omitempty"` // targets that only a run knows, as ACTION at POINTER
	Findings   []lint.Finding `json:"findings"`
}

// Control is one that no action reaches. Those of the entries of a list count once.
type Control struct {
	Role    string           `json:"role"`
	Name    string           `json:"name"`
	Count   int              `json:"count"`
	Target  *locators.Target `json:"target,omitempty"`
	members []string
}

// Of is the coverage of each open page.
func Of(ctx context.Context, h Host, files []Map) ([]Page, error) {
	targets, unknown, err := targetsOf(files)
	if err != nil {
		return nil, err
	}
	out := []Page{}
	for _, tab := range h.Tabs() {
		var p Page
		if err := h.Visit(ctx, runtime.Target{RuntimeID: tab.RuntimeID}, func(
			ctx context.Context, page primitives.Page,
		) (err error) {
			p, err = covered(ctx, page, targets)
			return err
		}); err != nil {
			return out, err
		}
		p.Unknown = unknown
		out = append(out, p)
	}
	return out, nil
}

// Read reads the maps that are files, or in folders.
func Read(given []string) ([]Map, error) {
	var out []Map
	for _, g := range given {
		err := filepath.WalkDir(g, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path != g && d.Name() != "actions.json" {
				return err
			}
			text, err := os.ReadFile(path)
			if err == nil {
				out = append(out, Map{path, text})
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return nil, errors.New("an actions.json file or a storage folder")
	}
	return out, nil
}

// Least is the lowest score, 0 without a page.
func Least(pages []Page) int {
	if len(pages) == 0 {
		return 0
	}
	return slices.MinFunc(pages, func(a, b Page) int { return a.Score - b.Score }).Score
}

func covered(ctx context.Context, page primitives.Page, targets []descriptor.Descriptor) (Page, error) {
	s, err := inspect.Take(ctx, page)
	if err != nil {
		return Page{}, err
	}
	reached := map[string]bool{}
	matches, err := descriptor.ResolveAll(ctx, page, targets)
	if err != nil {
		return Page{}, err
	}
	for _, m := range matches {
		if m.Found {
			reached[m.Handle] = true
		}
	}
	p := Page{URL: s.URL, NotReached: []Control{}, Findings: []lint.Finding{}, Score: 100}
	groups := map[string]*Control{}
	var order []string
	for _, c := range s.Controls {
		if c.Disabled {
			continue
		}
		key := keyOf(c)
		g := groups[key]
		if g == nil {
			g = &Control{Role: c.Role, Name: c.Name}
			groups[key] = g
			order = append(order, key)
		}
		g.Count++
		g.members = append(g.members, c.Handle)
	}
	var left []likeness.Seen
	for _, key := range order {
		g := groups[key]
		p.Controls++
		if slices.ContainsFunc(g.members, func(h string) bool { return reached[h] }) {
			p.Reached++
			continue
		}
		i := slices.IndexFunc(s.Controls, func(c inspect.Control) bool { return c.Handle == g.members[0] })
		left = append(left, s.Controls[i].Seen)
		p.NotReached = append(p.NotReached, *g)
	}
	unique, err := locators.UniqueOf(ctx, page, left)
	if err != nil {
		return Page{}, err
	}
	for i := range left {
		n := &p.NotReached[i]
		fix := "outrider init drafts an action for it"
		if t, ok := locators.TargetOf(left[i], unique[i]); ok {
			n.Target = &t
			if text, err := t.JSON(); err == nil {
				fix = "add a step with the target " + string(text) + ", or " + fix
			}
		}
		p.Findings = append(p.Findings, lint.Finding{
			Rule:    lint.NotReached,
			Message: fmt.Sprintf("no action reaches the %s %q of %s", n.Role, n.Name, p.URL),
			Fix:     fix,
		})
	}
	if p.Controls > 0 {
		p.Score = p.Reached * 100 / p.Controls
	}
	return p, nil
}

// keyOf is the same for a control of each entry of a list.
func keyOf(c inspect.Control) string {
	if !c.Repeated {
		return c.Handle
	}
	key := []string{c.Role, c.Tag, strings.Join(likeness.StableClasses(c.Attributes["class"]), " ")}
	for _, a := range c.Path {
		key = append(key, a.Tag)
	}
	return strings.Join(key, "\x00")
}

// targetsOf are the targets and locators of all actions of maps. unknown are those that
// only a run knows, because an expression computes them.
func targetsOf(files []Map) (targets []descriptor.Descriptor, unknown []string, err error) {
	for _, f := range files {
		var root struct {
			Tools []map[string]any `json:"tools"`
		}
		if err := json.Unmarshal(f.Text, &root); err != nil {
			return nil, nil, fault.New(fault.InvalidJSON, "the map %s is not a JSON object", f.File)
		}
		for i, t := range root.Tools {
			walk("/tools/"+strconv.Itoa(i), t, func(pointer string, o map[string]any) {
				d, ok := descriptorOf(o)
				if !ok {
					unknown = append(unknown, fmt.Sprintf("%v at %s", t["name"], pointer))
					return
				}
				targets = append(targets, d)
			})
		}
	}
	return targets, unknown, nil
}

func walk(pointer string, v any, each func(string, map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			at := pointer + "/" + name
			if o, ok := v[name].(map[string]any); ok && (name == "target" || name == "locator") {
				each(at, o)
				continue
			}
			walk(at, v[name], each)
		}
	case []any:
		for i, e := range v {
			walk(pointer+"/"+strconv.Itoa(i), e, each)
		}
	}
}

// descriptorOf is a target, or a locator of a workflow, as it is resolved.
func descriptorOf(o map[string]any) (d descriptor.Descriptor, ok bool) {
	text := func(name string) string {
		s, _ := o[name].(string)
		return s
	}
	list := func(name string) []string {
		switch v := o[name].(type) {
		case string:
			return []string{v}
		case []any:
			var out []string
			for _, e := range v {
				if s, ok := e.(string); ok {
					out = append(out, s)
				}
			}
			return out
		}
		return nil
	}
	d = descriptor.Descriptor{
		Selector:          list("selector"),
		Selectors:         list("selectors"),
		FallbackSelectors: list("fallback_selectors"),
		Role:              text("role"),
		Name:              text("name"),
		TextEquals:        text("text_equals"),
		TextContains:      text("text_contains"),
	}
	if v := text("label"); v != "" && d.Name == "" {
		d.Name = v
	}
	for member, attribute := range map[string]string{"placeholder": "placeholder", "test_id": "data-testid"} {
		if v := text(member); v != "" {
			d.Selector = append(d.Selector, locators.Attribute("", attribute, v))
		}
	}
	all := strings.Join(slices.Concat(
		d.Selector, d.Selectors, d.FallbackSelectors, []string{d.Role, d.Name, d.TextEquals, d.TextContains},
	), "")
	return d, all != "" && !strings.Contains(all, "{%")
}

// Print shows the coverage of pages for people.
func Print(w io.Writer, pages []Page) {
	for _, p := range pages {
		fmt.Fprintf(
			w, "coverage   %d %%  %s: %d of %d controls\n", p.Score, report.Printable(p.URL), p.Reached, p.Controls,
		)
		for i, n := range p.NotReached {
			times := ""
			if n.Count > 1 {
				times = fmt.Sprintf(" (%d times)", n.Count)
			}
			fmt.Fprintf(
				w, "  %s  %s %s%s\n             %s\n", lint.NotReached, n.Role,
				report.Printable(strconv.Quote(n.Name)), times, report.Printable(p.Findings[i].Fix),
			)
		}
		for _, u := range p.Unknown {
			fmt.Fprintf(w, "  unknown    %s: an expression names the element\n", report.Printable(u))
		}
	}
}
