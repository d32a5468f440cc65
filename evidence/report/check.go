package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/checks"
)

// Page is what mode check of actions.site answers, as far as reports
// show it.
type Page struct {
	checks.Page

	// Opened is the address that was asked for, "" when it is not known.
	Opened   string          `json:"-"`
	Duration time.Duration   `json:"-"`
	Raw      json.RawMessage `json:"-"` // the whole answer
	// Screenshot is what the page showed after its checks, and Texts is what was known of
	// it then; both only when something is not well and a report asks.
	Screenshot *Screenshot `json:"-"`
	Texts      []Text      `json:"-"`

	file string // of the first map that applies, see Locate
}

// Locate finds the files of the maps that the page was checked with: a map in a storage
// folder is called by its path in there. nil finds none.
func (p *Page) Locate(files func(mapPath string) (file string, ok bool)) {
	find := func(mapPath string) string {
		if files == nil {
			return ""
		}
		file, _ := files(mapPath)
		return filepath.ToSlash(file)
	}
	if len(p.Maps) > 0 {
		p.file = cmp.Or(find(p.Maps[0]), p.Maps[0])
	}
	for i := range p.Checks {
		p.Checks[i].File = find(p.Checks[i].MapPath)
	}
	for i := range p.States {
		p.States[i].File = find(p.States[i].MapPath)
	}
}

// Well reports whether the page is ok and none of its checks drifted or failed.
func (p Page) Well() bool {
	return p.OK && !slices.ContainsFunc(p.Checks, func(c checks.Check) bool {
		return c.Status == checks.Failed || c.Status == checks.Drifted || c.Status == checks.NotRun
	})
}

// Box is where an element was in the viewport, in CSS pixels.
type Box = primitives.Rect

// Causes says why the page is not ok, one sentence each; what nobody knows
// better comes first.
func (p Page) Causes() []string {
	out := append([]string{}, p.Unmet...)
	for _, c := range p.Checks {
		if c.Breaks() {
			out = append(out, c.ID+": "+c.Detail())
		}
	}
	if len(out) > 0 {
		out[0] = p.Misled() + out[0]
	}
	return out
}

// Misled says where a page was led from that is not the one that was asked for, for the beginning of a
// sentence; "" for any other.
func (p Page) Misled() string {
	if !p.redirected() {
		return ""
	}
	return p.Opened + " leads here; "
}

// redirected reports whether another page is shown than was asked for.
func (p Page) redirected() bool {
	asked, err := url.Parse(p.Opened)
	if err != nil || p.Opened == "" {
		return false
	}
	shown, err := url.Parse(p.URL)
	return err == nil && asked.Host != "" &&
		(asked.Host != shown.Host || strings.TrimSuffix(asked.Path, "/") != strings.TrimSuffix(shown.Path, "/"))
}

// Print shows the page for people: on the first line whether it is well, and if
// not, why.
func (p Page) Print(w io.Writer) {
	head := "ok      " + Printable(p.URL)
	causes := p.Causes()
	if !p.OK {
		head = "failed  " + Printable(p.URL)
		if len(causes) > 0 {
			head += "  " + Printable(causes[0])
		}
	}
	fmt.Fprintln(w, head)
	for i, line := range p.Unmet {
		if i > 0 {
			fmt.Fprintf(w, "        %s\n", Printable(line))
		}
	}
	var rows [][]string
	for _, c := range p.Checks {
		rows = append(rows, []string{c.Status, c.Severity, Printable(c.ID), Printable(c.Detail())})
	}
	Aligned(w, "  ", rows)
	rows = nil
	for _, s := range p.States {
		word := "unknown"
		if s.Current != nil {
			word = map[bool]string{true: "current", false: "not current"}[*s.Current]
		}
		said := s.Description
		if len(s.Drift) > 0 {
			word, said = "drifted", s.Drift[0].Message
		}
		rows = append(rows, []string{word, "state", Printable(s.Name), Printable(said)})
	}
	Aligned(w, "  ", rows)
	for _, c := range p.Checks {
		if c.Status == "failed" {
			for _, r := range c.Reasons() {
				fmt.Fprintf(w, "  %s: %s\n      at %s\n", Printable(c.ID), Printable(r.Message), Printable(r.Place))
			}
		}
		for _, proposal := range c.Proposals() {
			fmt.Fprintf(w, "  %s: repaired target %s\n", Printable(c.ID), Printable(string(proposal)))
		}
	}
	s := p.Summary
	fmt.Fprintf(
		w, "  %d passed, %d drifted, %d failed, %d not run, %d skipped, %d unknown\n",
		s["passed"], s["drifted"], s["failed"], s["not_run"], s["skipped"], s["unknown"],
	)
}
