package view

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/evidence/trace"
	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Model is what the page gets at once. What a row says in full comes when it is chosen.
type Model struct {
	Title    string    `json:"title"`
	Program  string    `json:"program"`
	Browser  string    `json:"browser,omitempty"`
	Profile  string    `json:"profile,omitempty"`
	Started  string    `json:"started"`
	Duration float64   `json:"duration_ms"`
	Since    float64   `json:"since_ms"`
	Cut      bool      `json:"cut"`
	Calls    int       `json:"calls"`
	Failed   int       `json:"failed"`
	Rows     []Row     `json:"rows"`
	Console  []Line    `json:"console"`
	Requests []Request `json:"requests"`
	Pictures []Picture `json:"pictures"`
	Happened []Line    `json:"happened"` // dialogs, downloads, tabs, signals
}

// Row is a call, a step of a workflow, or a primitive.
type Row struct {
	ID     string  `json:"id"`
	Depth  int     `json:"depth"`
	Title  string  `json:"title"`
	Target string  `json:"target,omitempty"`
	Tab    int     `json:"tab,omitempty"`
	Began  float64 `json:"t"`
	Ended  float64 `json:"end"`
	OK     bool    `json:"ok"`
	Open   bool    `json:"open,omitempty"` // the recording does not see it end
	Code   string  `json:"code,omitempty"`
	Before bool    `json:"before,omitempty"` // there is a snapshot
	After  bool    `json:"after,omitempty"`
	Width  int     `json:"w,omitempty"` // of the snapshots, in CSS pixels
	Height int     `json:"h,omitempty"`
	URL    string  `json:"url,omitempty"`
	// AfterURL is the address of the document afterwards, where it is another.
	AfterURL string `json:"after_url,omitempty"`
}

// Line is one thing that was said at some time.
type Line struct {
	T     float64 `json:"t"`
	Kind  string  `json:"kind"`
	Text  string  `json:"text"`
	Place string  `json:"place,omitempty"`
}

// Request is a line of the network.
type Request struct {
	T        float64         `json:"t"`
	Method   string          `json:"method"`
	URL      string          `json:"url"`
	Type     string          `json:"type"`
	Status   int             `json:"status"`
	Failure  string          `json:"failure,omitempty"`
	Duration float64         `json:"ms"`
	Size     int             `json:"size"`
	Body     string          `json:"body,omitempty"`
	Sent     string          `json:"sent,omitempty"`
	Missing  string          `json:"missing,omitempty"`
	Asked    json.RawMessage `json:"asked,omitempty"` // headers
	Answered json.RawMessage `json:"answered,omitempty"`
}

// Picture is a picture of the page.
type Picture struct {
	T    float64 `json:"t"`
	Name string  `json:"name"`
}

// Detail is what a row says in full.
type Detail struct {
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Output    json.RawMessage `json:"output,omitempty"`
	Error     json.RawMessage `json:"error,omitempty"`
	Target    *record.Target  `json:"target,omitempty"`
	Steps     json.RawMessage `json:"steps,omitempty"`
	Effects   json.RawMessage `json:"effects,omitempty"`
	URL       string          `json:"url,omitempty"`
	URLAfter  string          `json:"url_after,omitempty"`
	WaitMS    float64         `json:"wait_ms,omitempty"`
	// What the page says before and not after, and the other way round.
	Gone   []string `json:"gone,omitempty"`
	New    []string `json:"new,omitempty"`
	States *Change  `json:"states,omitempty"`
	// Projections are the state projections that a call has left.
	Projections []Projection `json:"projections,omitempty"`
}

// Projection is a state projection after a call.
type Projection struct {
	Name    string          `json:"name"`
	Patches json.RawMessage `json:"patches,omitempty"` // from the state before it; nil when it is the same
	State   string          `json:"state,omitempty"`   // the resource
	Code    string          `json:"code,omitempty"`    // why it could not be read
}

// Change is how the states of maps that are current differ.
type Change struct {
	Before []string `json:"before"`
	After  []string `json:"after"`
}

// maxText bounds a text of the list.
const maxText = 2000

// recording is a recording that is shown.
type recording struct {
	*record.Recording
	model Model
	calls []record.Call
	rows  map[string]shownRow
	// bodies are resources by the address that they came from, the last one of each.
	bodies map[string]body
	states []stateAt
}

type body struct{ resource, mimeType string }

type shownRow struct {
	call        *record.Call
	step        *record.Step // of a primitive
	first, last *record.Step // whose snapshots are those of the row
}

type stateAt struct {
	t     float64
	tab   int
	names []string
}

// read makes the model of a recording.
func read(r *record.Recording) *recording {
	x := &recording{Recording: r, calls: record.Calls(r.Events), rows: map[string]shownRow{}, bodies: map[string]body{}}
	m := &x.model
	m.Program = r.Header.Program
	m.Browser = r.Header.Browser
	m.Profile = r.Header.Profile
	m.Cut = r.Cut
	m.Since = r.Header.Since
	m.Title = cmp.Or(r.Header.Verb, "Recording")
	m.Started = jsonout.Time(r.Header.Started)
	m.Rows = []Row{}
	m.Console = []Line{}
	m.Requests = []Request{}
	m.Pictures = []Picture{}
	m.Happened = []Line{}
	for _, e := range r.Events {
		m.Duration = max(m.Duration, e.T)
		x.event(e)
	}
	m.Duration -= m.Since
	for i := range x.calls {
		x.call(&x.calls[i])
	}
	m.Calls = len(x.calls)
	return x
}

func (x *recording) event(e record.Event) {
	m := &x.model
	happened := func(kind, text string) {
		m.Happened = append(m.Happened, Line{T: e.T, Kind: kind, Text: fault.Clip(text, maxText)})
	}
	switch e.Kind {
	case record.KindHost:
		if h, err := record.Of[record.Host](e); err == nil {
			m.Browser = cmp.Or(m.Browser, h.Browser)
		}
	case record.KindConsole:
		if c, err := record.Of[record.Console](e); err == nil {
			place := c.URL
			if place != "" && c.Line > 0 {
				place += ":" + strconv.Itoa(c.Line)
			}
			kind := c.Level
			if c.Source == "exception" {
				kind = "exception"
			}
			m.Console = append(m.Console, Line{T: e.T, Kind: kind, Text: fault.Clip(c.Text, maxText), Place: place})
		}
	case record.KindRequest:
		if q, err := record.Of[record.Request](e); err == nil {
			began := float64(q.Began.Sub(x.Header.Started).Microseconds()) / 1000
			m.Requests = append(m.Requests, Request{
				T:        began,
				Method:   q.Method,
				URL:      q.URL,
				Type:     q.Type,
				Status:   q.Status,
				Failure:  q.Failure,
				Duration: q.DurationMS,
				Size:     q.BodySize,
				Body:     q.Body,
				Sent:     q.RequestBody,
				Missing:  q.BodyMissing,
				Asked:    q.RequestHeaders,
				Answered: q.ResponseHeaders,
			})
			if q.Body != "" && q.Method == "GET" {
				x.bodies[withoutFragment(q.URL)] = body{q.Body, q.MimeType}
			}
		}
	case record.KindPicture:
		if p, err := record.Of[record.Picture](e); err == nil {
			m.Pictures = append(m.Pictures, Picture{e.T, p.Resource})
		}
	case record.KindDialog:
		if d, err := record.Of[record.Dialog](e); err == nil {
			happened("dialog", d.State+" "+d.Type+": "+d.Message)
		}
	case record.KindDownload:
		if d, err := record.Of[record.Download](e); err == nil {
			happened("download", d.Filename+" ("+d.State+") "+d.URL)
		}
	case record.KindSignal:
		if s, err := record.Of[record.Signal](e); err == nil {
			happened("signal", s.Name+" "+string(s.Payload))
		}
	case record.KindTab:
		if t, err := record.Of[record.Tab](e); err == nil {
			if t.State != "changed" {
				happened("tab", t.State+" tab "+strconv.Itoa(e.Tab)+" "+t.URL)
			}
			x.states = append(x.states, stateAt{e.T, e.Tab, t.States})
		}
	case record.KindItem:
		if i, err := record.Of[record.Item](e); err == nil {
			happened("item", i.Direction+" "+string(i.Item))
		}
	}
}

// call adds the rows of a call: its own, one for each step of a workflow, and one for each primitive.
func (x *recording) call(c *record.Call) {
	if c.Finished && !c.OK {
		x.model.Failed++
	}
	row := Row{
		ID:    c.ID,
		Title: trace.Title(*c),
		Tab:   c.Tab,
		Began: c.Began,
		Ended: c.Ended,
		OK:    c.OK,
		Open:  !c.Finished,
		Code:  code(c.Error),
		URL:   c.Before,
	}
	if len(c.Steps) == 1 && c.Steps[0].Step == "" && c.Steps[0].Primitive == c.Name {
		row.Target = label(c.Steps[0].Target)
		x.add(row, shownRow{call: c, step: &c.Steps[0], first: &c.Steps[0], last: &c.Steps[0]})
		return
	}
	shown := shownRow{call: c}
	if len(c.Steps) > 0 {
		shown.first, shown.last = &c.Steps[0], &c.Steps[len(c.Steps)-1]
	}
	x.add(row, shown)
	for i := 0; i < len(c.Steps); {
		to := i + 1
		for to < len(c.Steps) && c.Steps[to].Step == c.Steps[i].Step {
			to++
		}
		depth := 1
		if name := c.Steps[i].Step; name != "" {
			group := Row{
				ID:    c.Steps[i].ID + "-step",
				Depth: 1,
				Title: name,
				Tab:   c.Tab,
				Began: c.Steps[i].Began,
				Ended: c.Steps[to-1].Ended,
				OK:    true,
				URL:   c.Steps[i].URL,
			}
			if end := c.Steps[to-1].End; end == nil || !end.OK {
				group.OK, group.Open = false, end == nil
				if end != nil {
					group.Code = code(end.Error)
				}
			}
			x.add(group, shownRow{call: c, first: &c.Steps[i], last: &c.Steps[to-1]})
			depth = 2
		}
		for ; i < to; i++ {
			s := &c.Steps[i]
			row := Row{
				ID:     s.ID,
				Depth:  depth,
				Title:  s.Primitive,
				Target: label(s.Target),
				Tab:    c.Tab,
				Began:  s.Began,
				Ended:  s.Ended,
				URL:    s.URL,
				Open:   s.End == nil,
			}
			if s.End != nil {
				row.OK, row.Code = s.End.OK, code(s.End.Error)
			}
			x.add(row, shownRow{call: c, step: s, first: s, last: s})
		}
	}
}

func (x *recording) add(row Row, shown shownRow) {
	if s, ok := main(shown.first, "before"); ok {
		row.Before = true
		row.Width = s.Size.Width
		row.Height = s.Size.Height
		row.URL = cmp.Or(s.URL, row.URL)
	}
	if s, ok := main(shown.last, "after"); ok {
		row.After = true
		row.Width = s.Size.Width
		row.Height = s.Size.Height
		if s.URL != row.URL {
			row.AfterURL = fault.Clip(s.URL, maxText)
		}
	}
	row.URL = fault.Clip(row.URL, maxText)
	x.model.Rows = append(x.model.Rows, row)
	x.rows[row.ID] = shown
}

// main is the snapshot of the main frame in a phase.
func main(s *record.Step, phase string) (record.Snapshot, bool) {
	if s != nil {
		for _, one := range s.Snapshots {
			if one.Main && one.Phase == phase {
				return one, true
			}
		}
	}
	return record.Snapshot{}, false
}

func code(failure json.RawMessage) string {
	var f struct{ Code string }
	_ = json.Unmarshal(failure, &f) // "" without
	return f.Code
}

// label says in a few words what a step is about.
func label(t *record.Target) string {
	if t == nil || t.Element == nil {
		return ""
	}
	name := cmp.Or(t.Element.Name, t.Element.Text)
	text := strings.TrimSpace(cmp.Or(t.Element.Role, "<"+t.Element.Tag+">"))
	if name != "" {
		text += " “" + fault.Clip(name, 60) + "”"
	}
	return text
}

// detail is what a row says in full.
func (x *recording) detail(id string) (Detail, bool) {
	row, ok := x.rows[id]
	if !ok {
		return Detail{}, false
	}
	var d Detail
	switch {
	case row.step != nil:
		d.Arguments = row.step.Arguments
		d.Target = row.step.Target
		d.URL = row.step.URL
		if end := row.step.End; end != nil {
			d.Output = x.whole(end.Output)
			d.Error = end.Error
			d.Effects = end.Effects
			d.WaitMS = end.WaitMS
		}
	case row.first == nil || strings.HasSuffix(id, "-step"):
		if row.last != nil && row.last.End != nil {
			d.Output, d.Error = x.whole(row.last.End.Output), row.last.End.Error
		}
	}
	if row.step == nil && !strings.HasSuffix(id, "-step") || row.step != nil && row.call.ID == id {
		c := row.call
		d.Arguments = c.Arguments
		d.Output = x.whole(c.Output)
		d.Error = c.Error
		d.Steps = c.Summaries
		d.URLAfter = c.URL
		d.URL = c.Before
		d.States = x.change(c)
		for _, s := range c.After {
			d.Projections = append(d.Projections, Projection{s.Projection, s.Patches, s.Resource, s.Code})
		}
	}
	d.Gone, d.New = x.changes(row)
	return d, true
}

// whole is an output, also one that stands in a resource.
func (x *recording) whole(output json.RawMessage) json.RawMessage {
	if name := record.Resourced(output); name != "" {
		if data, err := x.Data(name); err == nil {
			return data
		}
	}
	return output
}

// change compares the states that were current before and after a call, nil when they are the same.
func (x *recording) change(c *record.Call) *Change {
	var before, after []string
	for _, s := range x.states {
		if s.tab != c.Tab {
			continue
		}
		if s.t <= c.Began {
			before = s.names
		}
		if s.t <= c.Ended+500 {
			after = s.names
		}
	}
	if slices.Equal(before, after) {
		return nil
	}
	return &Change{Before: before, After: after}
}

// maxLines bounds the lines of each side.
const maxLines = 200

// changes are the lines that only one of two documents has.
func (x *recording) changes(row shownRow) (gone, added []string) {
	before, ok := main(row.first, "before")
	after, okAfter := main(row.last, "after")
	if !ok || !okAfter || before.Resource == after.Resource {
		return nil, nil
	}
	a, errA := x.Data(before.Resource)
	b, errB := x.Data(after.Resource)
	if errA != nil || errB != nil {
		return nil, nil
	}
	was, is := record.Lines(a), record.Lines(b)
	return only(was, is), only(is, was)
}

// only lists the lines of a that b does not have as often.
func only(a, b []string) []string {
	left := map[string]int{}
	for _, line := range b {
		left[line]++
	}
	var out []string
	for _, line := range a {
		if left[line]--; left[line] < 0 && len(out) < maxLines {
			out = append(out, fault.Clip(line, maxText))
		}
	}
	return out
}

func withoutFragment(address string) string {
	address, _, _ = strings.Cut(address, "#")
	return address
}
