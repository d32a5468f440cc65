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

	"github.com/outrider-run/outrider/internal/element/lock"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Page is what mode check of actions.site answers, as far as reports
// show it.
type Page struct {
	OK         bool           `json:"ok"`
	Unmet      []string       `json:"unmet"` // why it is not ok, beside checks that fail
	URL        string         `json:"url"`
	HTTPStatus int            `json:"http_status"`
	ObservedAt string         `json:"observed_at"`
	Summary    map[string]int `json:"summary"`
	Checks     []Check        `json:"checks"`
	States     []struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Current     *bool  `json:"current"`
		MapPath     string `json:"map_path"`
		Drift       []struct {
			Message string `json:"message"`
		} `json:"drift"`
		File string `json:"-"` // see Locate
	} `json:"states"`
	Maps []string `json:"maps"`

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

type Check struct {
	ID          string                     `json:"check_id"`
	Description string                     `json:"description"`
	Severity    string                     `json:"severity"`
	Status      string                     `json:"status"`
	MapPath     string                     `json:"map_path"`
	Pointer     string                     `json:"pointer"`
	Line        int                        `json:"line"`
	Assertions  []Assertion                `json:"assertions"`
	Negative    []Assertion                `json:"negative_assertions"`
	Contingency string                     `json:"contingency"`
	Evidence    map[string]json.RawMessage `json:"evidence"`
	Error       *struct {
		Code     fault.Code     `json:"code"`
		Message  string         `json:"message"`
		Evidence map[string]any `json:"evidence"`
	} `json:"error"`
	Setup struct {
		ByHand []string `json:"by_hand"`
	} `json:"setup"`
	Drift []struct {
		Preferred string          `json:"preferred"`
		Message   string          `json:"message"`
		Matched   string          `json:"matched"`
		Candidate string          `json:"candidate"`
		Proposal  json.RawMessage `json:"proposal"`
		MapPath   string          `json:"map_path"`
		Pointer   string          `json:"pointer"`
	} `json:"drift"`
	Repairs []struct {
		MapPath string          `json:"map_path"`
		Pointer string          `json:"pointer"`
		Target  json.RawMessage `json:"target"`
	} `json:"repairs"`
	Remembered []Remembered `json:"remembered"`

	// File is the file of the map, see Locate.
	File string `json:"-"`
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

// file is where the check's map is, as well as it is known.
func (c Check) file() string { return cmp.Or(c.File, c.MapPath) }

// Remembered is the recorded appearance of a target of a map.
type Remembered struct {
	MapPath string `json:"map_path"`
	lock.Entry
}

// Breaks reports whether the check makes the verb fail: severity info is for
// people to know.
func (c Check) Breaks() bool {
	return (c.Status == "failed" || c.Status == "not_run") && c.Severity != "info"
}

// Well reports whether the page is ok and none of its checks drifted or failed.
func (p Page) Well() bool {
	return p.OK && !slices.ContainsFunc(p.Checks, func(c Check) bool {
		return c.Status == "failed" || c.Status == "drifted" || c.Status == "not_run"
	})
}

// Assertion is one assertion of a check, with the members that failed.
type Assertion struct {
	OK         *bool  `json:"ok"`
	Reason     string `json:"reason"`
	Pointer    string `json:"pointer"`
	Line       int    `json:"line"`
	Mismatches []struct {
		Member   string `json:"member"`
		Expected any    `json:"expected"`
		Found    any    `json:"found"`
		Message  string `json:"message"`
	} `json:"mismatches"`
	Box *Box `json:"box"`
}

// Box is where an element was in the viewport, in CSS pixels.
type Box = primitives.Rect

// Reason is one failed expectation, and its place in the map.
type Reason struct {
	Message, Place string
}

// Reasons says why a check fails: a sentence for each assertion that does.
func (c Check) Reasons() []Reason {
	var out []Reason
	for _, a := range slices.Concat(c.Assertions, c.Negative) {
		for _, m := range a.Mismatches {
			// Two members of an assertion can have one reason: there is no element.
			if one := (Reason{m.Message, c.place(a.Pointer, a.Line)}); !slices.Contains(out, one) {
				out = append(out, one)
			}
		}
	}
	return out
}

// Place is where the check stands in its map.
func (c Check) Place() string { return c.place(c.Pointer, c.Line) }

func (c Check) place(pointer string, line int) string {
	if line == 0 {
		return c.file()
	}
	return fmt.Sprintf("%s:%d %s", c.file(), line, pointer)
}

// Proposals are the repaired targets. A check that fails for another reason
// stays red with them, so it has none.
func (c Check) Proposals() []json.RawMessage {
	var out []json.RawMessage
	if c.Status == "drifted" {
		for _, d := range c.Drift {
			if len(d.Proposal) > 0 {
				out = append(out, d.Proposal)
			}
		}
	}
	return out
}

// Detail is one line about a check that did not simply pass.
func (c Check) Detail() string {
	reasons := c.Reasons()
	switch {
	case c.Status == "failed" && len(reasons) > 0:
		line := reasons[0].Message
		if more := len(reasons) - 1; more > 0 {
			line += fmt.Sprintf("; and %d more", more)
		}
		return line
	case c.Status == "drifted" && len(c.Drift) > 0:
		return c.Drift[0].Message
	case c.Error != nil:
		e := fault.Error{Code: c.Error.Code, Message: c.Error.Message, Evidence: c.Error.Evidence}
		return e.Line()
	case c.Status == "not_run":
		return fmt.Sprintf("somebody has to do first what it says at %s", strings.Join(c.Setup.ByHand, ", "))
	case c.Status == "skipped":
		return "the state it is about is not current"
	case c.Status == "unknown" &&
		slices.ContainsFunc(c.Assertions, func(a Assertion) bool { return a.Reason == "always_holds" }):
		return "it asks for what every page has"
	case c.Status == "unknown":
		return "it asks for nothing that can be seen"
	}
	return ""
}

// Causes says why the page is not ok, one sentence each; what nobody knows
// better comes first.
func (p Page) Causes() []string {
	out := append([]string{}, p.Unmet...)
	for _, c := range p.Checks {
		if c.Breaks() {
			out = append(out, c.ID+": "+c.Detail())
		}
	}
	if len(out) > 0 && p.redirected() {
		out[0] = p.Opened + " leads here; " + out[0]
	}
	return out
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
