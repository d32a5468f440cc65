package report

import (
	"crypto/sha256"
	_ "embed" // the page of a report
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strings"
)

// The page of a report, its styles and its script. None of them loads anything
// outside the file. Its gaps are filled without a template package: those call methods
// by name, so the linker would keep every method of the program.
var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

// shownRun is what the script of the page reads.
type shownRun struct {
	Title      string      `json:"title"`
	OK         bool        `json:"ok"`
	StartedAt  string      `json:"started_at"`
	DurationMS int64       `json:"duration_ms"`
	Totals     Totals      `json:"totals"`
	Past       []string    `json:"past"` // when the earlier runs began
	Suites     []string    `json:"suites"`
	Tests      []shownTest `json:"tests"`
	Pictures   []picture   `json:"pictures"` // each once, however many tests show it
}

type picture struct {
	DataURL string  `json:"src"`
	Width   float64 `json:"width"`
	Height  float64 `json:"height"`
}

type shownTest struct {
	Test
	Suite    int         `json:"suite"`
	History  []Outcome   `json:"history,omitempty"` // "" where the run did not have the test
	Picture  *int        `json:"picture,omitempty"`
	Outlines []Box       `json:"outlines,omitempty"`
	Steps    []shownTest `json:"steps,omitempty"`
}

// gallery has each picture of a page once.
type gallery struct {
	pictures []picture
	at       map[string]int
}

// shown is a test with its steps as the page has it.
func (g *gallery) shown(t *Test) shownTest {
	one := shownTest{Test: t.cleaned()}
	one.Test.Steps = nil
	for i := range one.Failures {
		one.Failures[i].Compared = g.compared(one.Failures[i].Compared)
	}
	if p := t.Screenshot; p != nil {
		i := g.add(picture{p.DataURL, p.Width, p.Height})
		one.Picture, one.Outlines = &i, p.Outlines
	}
	for i := range t.Steps {
		one.Steps = append(one.Steps, g.shown(&t.Steps[i]))
	}
	return one
}

// staticFailure is a failure as readers without script see it.
type staticFailure struct {
	Name, Message, Place string
}

// mostStatic is how many failures are in the page itself, for readers without
// script.
const mostStatic = 200

// HTML is a page that needs nothing else: styles, script and pictures are in it. A
// policy in the page lets no other script run and nothing be fetched.
func HTML(r Run) ([]byte, error) {
	shown := shownRun{
		Title:      line(r.Title),
		OK:         r.OK,
		StartedAt:  r.StartedAt,
		DurationMS: r.DurationMS,
		Totals:     r.Total(),
		Past:       []string{},
		Suites:     []string{},
		Tests:      []shownTest{},
	}
	past := r.Past[max(len(r.Past)-mostPast, 0):]
	for _, p := range past {
		shown.Past = append(shown.Past, p.StartedAt)
	}
	var static []staticFailure
	suites, all := map[string]int{}, gallery{pictures: []picture{}, at: map[string]int{}}
	r.Each(func(path []string, t *Test) {
		name := suiteName(path)
		at, ok := suites[name]
		if !ok {
			at = len(shown.Suites)
			suites[name] = at
			shown.Suites = append(shown.Suites, name)
		}
		one := all.shown(t)
		one.Suite = at
		for _, p := range past {
			one.History = append(one.History, p.Outcomes[key(path, t)])
		}
		shown.Tests = append(shown.Tests, one)
		if t.Outcome.Red() && len(static) < mostStatic {
			static = append(static, staticFailure{line(t.Name), line(t.Message), t.place().String()})
			for _, f := range t.Failures[min(1, len(t.Failures)):] {
				static = append(static, staticFailure{line(t.Name), line(f.Message), f.Place.String()})
			}
		}
	})
	shown.Pictures = all.pictures
	data, err := json.Marshal(shown) // with <, > and & escaped, so that nothing ends the element
	if err != nil {
		return nil, err
	}
	mark, verdict := "✗", "Failed"
	if r.OK {
		mark, verdict = "✓", "Passed"
	}
	policy := "default-src 'none'; img-src data:; style-src '" + hashOf(pageCSS) + "'; script-src '" +
		hashOf(pageJS) + "'; base-uri 'none'; form-action 'none'"
	return []byte(strings.NewReplacer(
		"{{mark}}", mark,
		"{{outcome}}", strings.ToLower(verdict),
		"{{verdict}}", verdict,
		"{{policy}}", policy,
		"{{title}}", html.EscapeString(shown.Title),
		"{{totals}}", html.EscapeString(shown.Totals.String()),
		"{{took}}", html.EscapeString(span(r.DurationMS)),
		"{{static}}", staticList(static),
		"{{style}}", "<style>"+pageCSS+"</style>",
		"{{data}}", `<script type="application/json" id="data">`+string(data)+"</script>",
		"{{program}}", "<script>"+pageJS+"</script>",
	).Replace(pageHTML)), nil
}

// staticList is what failed, as readers without script see it.
func staticList(failures []staticFailure) string {
	if len(failures) == 0 {
		return "<p>Nothing failed. The list of tests needs JavaScript.</p>"
	}
	var out strings.Builder
	out.WriteString("<h2>What failed</h2>\n    <ol class=\"static\">")
	for _, f := range failures {
		fmt.Fprintf(
			&out, "\n      <li><strong>%s</strong><br>%s", html.EscapeString(f.Name), html.EscapeString(f.Message),
		)
		if f.Place != "" {
			fmt.Fprintf(&out, "<br><code>%s</code>", html.EscapeString(f.Place))
		}
		out.WriteString("</li>")
	}
	out.WriteString("\n    </ol>")
	return out.String()
}

// mostPast is how many earlier runs a page shows.
const mostPast = 12

// suiteName joins the names of suites, each of which may begin with the one around
// it.
func suiteName(path []string) string {
	out := ""
	for _, p := range path {
		p = line(p)
		if rest, ok := strings.CutPrefix(p, out+": "); ok && out != "" {
			p = rest
		}
		if out != "" {
			out += " › "
		}
		out += p
	}
	return out
}

// place is the first place to read: that of the first failure, or of the test.
func (t *Test) place() Place {
	if len(t.Failures) > 0 && t.Failures[0].Place.File != "" {
		return t.Failures[0].Place
	}
	return t.Place
}

// cleaned is the test with its texts cut and without what a reader would obey.
func (t *Test) cleaned() Test {
	c := *t
	c.ID = "" // the page has the suites
	c.Name = line(t.Name)
	c.Message = line(t.Message)
	c.Description = line(t.Description)
	c.URL = line(t.URL)
	c.Failures = slices.Clone(t.Failures)
	for i := range c.Failures {
		f := &c.Failures[i]
		f.Message = line(f.Message)
		f.Expected = line(f.Expected)
		f.Found = line(f.Found)
	}
	clean := func(in []Text) []Text {
		out := slices.Clone(in)
		for i := range out {
			out[i].Body = block(out[i].Body)
		}
		return out
	}
	c.Repairs, c.Texts = clean(t.Repairs), clean(t.Texts)
	return c
}

func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
