// Package picker shows the locators of elements of a page, ranked and tried. It changes nothing and keeps nothing. The
// verb locators calls it.
package picker

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/outrider-run/outrider/authoring/inspect"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/internal/element/locators"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/descriptor"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Host is what the page is open in: a runtime.Host.
type Host interface {
	Visit(ctx context.Context, on runtime.Target, f func(context.Context, primitives.Page) error) error
}

// Element is one element with the ways to name it.
type Element struct {
	Tag      string            `json:"tag"`
	Role     string            `json:"role,omitempty"`
	Name     string            `json:"name,omitempty"`
	Locators []locators.Proven `json:"locators"`
	// Target is what a map would say: the best locator, and fallbacks of other kinds. nil
	// when no locator names the element alone.
	Target *locators.Target `json:"target"`
}

// Elements are the controls of the page that a tab shows, or the elements that a target
// matches: its text is a CSS selector, or the JSON of a target of a map.
func Elements(ctx context.Context, h Host, on runtime.Target, target string) ([]Element, error) {
	var out []Element
	err := h.Visit(ctx, on, func(ctx context.Context, page primitives.Page) error {
		seen, err := picked(ctx, page, target)
		if err != nil {
			return err
		}
		tried, err := locators.Tried(ctx, page, seen)
		if err != nil {
			return err
		}
		for i, s := range seen {
			e := Element{Tag: s.Tag, Role: s.Role, Name: s.Name, Locators: tried[i]}
			var unique []locators.Locator
			for _, p := range tried[i] {
				if p.Alone {
					unique = append(unique, p.Locator)
				}
			}
			if t, ok := locators.TargetOf(s, unique); ok {
				e.Target = &t
			}
			out = append(out, e)
		}
		return nil
	})
	return out, err
}

func picked(ctx context.Context, page primitives.Page, target string) ([]likeness.Seen, error) {
	if target == "" {
		p, err := inspect.Take(ctx, page)
		if err != nil {
			return nil, err
		}
		var out []likeness.Seen
		for _, c := range p.Controls {
			out = append(out, c.Seen)
		}
		return out, nil
	}
	d := descriptor.Descriptor{Selector: []string{target}}
	if target[0] == '{' {
		var t locators.Target
		if err := json.Unmarshal([]byte(target), &t); err != nil {
			return nil, fault.New(
				fault.InvalidInput,
				"the element is no target of a map: expected JSON such as {\"role\": \"button\", \"name\": \"Save\"}",
			)
		}
		d = t.Descriptor()
	}
	m, err := descriptor.Resolve(ctx, page, d)
	if err != nil {
		return nil, err
	}
	if !m.Found {
		return nil, fault.New(fault.TargetNotFound, "no element matches").
			With("target", target).With("reason", m.Reason).With("tried", m.Tried)
	}
	described, err := locators.Describe(ctx, page, []string{m.Handle})
	if err != nil {
		return nil, err
	}
	if len(described) != 1 || described[0] == nil {
		return nil, fault.New(fault.ElementStale, "the element was detached while it was described")
	}
	return []likeness.Seen{*described[0]}, nil
}

// Print shows elements for people.
func Print(w io.Writer, elements []Element) {
	for _, e := range elements {
		fmt.Fprintf(w, "%s %s\n", cmp.Or(e.Role, e.Tag), report.Printable(strconv.Quote(e.Name)))
		for _, l := range e.Locators {
			count := "1 element"
			switch {
			case l.Count == 0:
				count = "no element"
			case l.Count > 1:
				count = strconv.Itoa(l.Count) + " elements"
			case !l.Alone:
				count = "another element"
			}
			fmt.Fprintf(w, "  %-10s %-60s %s\n", l.Kind, report.Printable(l.String()), count)
		}
		if e.Target == nil {
			fmt.Fprintln(w, "  target     none: no locator names it alone")
			continue
		}
		text, err := e.Target.JSON()
		if err == nil {
			fmt.Fprintf(w, "  target     %s\n", report.Printable(string(text)))
		}
	}
}
