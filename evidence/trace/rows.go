package trace

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/evidence/record"
)

// row is where a step stands in the list of actions.
type row struct {
	step   *record.Step
	call   *record.Call
	id     string // callId
	parent string
	group  *group
	whole  bool // the row of the call itself: the call is this primitive
}

// group is a step of a workflow with the primitives that ran for it.
type group struct {
	id, title   string
	call        *record.Call
	first, last string // steps of the recording
	failed      *record.StepEnd
}

// index decides which rows there are.
func (e *export) index() {
	e.byID = map[string]*record.Call{}
	e.rows = map[string]*row{}
	e.open = map[string]bool{}
	e.groups = map[string][]*group{}
	for i := range e.calls {
		c := &e.calls[i]
		e.byID[c.ID] = c
		single := len(c.Steps) == 1 && c.Steps[0].Step == "" && c.Steps[0].Primitive == c.Name
		var g *group
		for j := range c.Steps {
			s := &c.Steps[j]
			r := &row{step: s, call: c, id: callID(s.ID), parent: callID(c.ID)}
			if single {
				r.id = callID(c.ID)
				r.parent = ""
				r.whole = true
			}
			if s.Step == "" {
				g = nil
			} else if g == nil || c.Steps[j-1].Step != s.Step {
				g = &group{id: callID(s.ID) + ".step", title: Title(*c) + " › step " + s.Step, call: c, first: s.ID}
				e.groups[c.ID] = append(e.groups[c.ID], g)
			}
			if g != nil {
				g.last = s.ID
				r.parent = g.id
				r.group = g
				g.failed = nil
				if s.End != nil && !s.End.OK {
					g.failed = s.End
				}
			}
			e.rows[s.ID] = r
		}
	}
}

func callID(id string) string { return "call@" + id }

// Title is how a call is named in lists: a site action by its own name.
func Title(c record.Call) string {
	if c.Name != "actions.site" {
		return c.Name
	}
	var in struct {
		Mode       string `json:"mode"`
		Action     string `json:"action"`
		ActionName string `json:"action_name"`
		Name       string `json:"name"`
		Projection string `json:"projection_name"`
	}
	_ = json.Unmarshal(c.Arguments, &in) // without, the name of the tool
	for _, name := range []string{in.Action, in.ActionName, in.Name} {
		if name != "" && (in.Mode == "call" || in.Mode == "") {
			return name
		}
	}
	title := strings.TrimSpace("actions.site " + in.Mode)
	if in.Projection != "" {
		title += " " + in.Projection
	}
	return title
}

// beginCall begins the row of a call, unless it is that of its one primitive.
func (e *export) beginCall(ev record.Event, c *record.Call) {
	if len(c.Steps) == 1 && e.rows[c.Steps[0].ID].whole {
		return
	}
	e.before(ev, callID(c.ID), "", Title(*c), c.Name, params(c.Arguments), nil)
}

func (e *export) endCall(ev record.Event, c *record.Call) {
	e.after(ev.T, callID(c.ID), outcome(c.OK, c.Output, c.Error))
}

func (e *export) beginStep(ev record.Event, r *row) {
	if g := r.group; g != nil && g.first == r.step.ID {
		e.before(ev, g.id, callID(r.call.ID), g.title, "step", map[string]any{"step": r.step.Step}, nil)
	}
	p := params(r.step.Arguments)
	if s := selector(r.step.Target); s != "" {
		p["selector"] = s
	}
	more := map[string]any{}
	if e.phase(r.step, "before") {
		more["beforeSnapshot"] = "before@" + r.id
	}
	e.before(ev, r.id, r.parent, r.step.Primitive, r.step.Primitive, p, more)
	if t := r.step.Target; t != nil && t.Element != nil {
		e.line(&e.trace, map[string]any{"type": "log", "callId": r.id, "time": zero + ev.T, "message": "target: " +
			strings.TrimSpace(t.Element.Role+" "+strconv.Quote(t.Element.Name)) + " <" + t.Element.Tag + ">"})
	}
}

func (e *export) endStep(ev record.Event, r *row, end record.StepEnd) {
	more := outcome(end.OK, end.Output, end.Error)
	if e.phase(r.step, "after") {
		more["afterSnapshot"] = "after@" + r.id
	}
	e.after(ev.T, r.id, more)
	if g := r.group; g != nil && g.last == r.step.ID {
		failed := map[string]any{}
		if g.failed != nil {
			failed = outcome(false, nil, g.failed.Error)
		}
		e.after(ev.T, g.id, failed)
	}
}

// phase reports whether a step has a snapshot of the main frame.
func (e *export) phase(s *record.Step, phase string) bool {
	for _, one := range s.Snapshots {
		if one.Phase == phase && one.Main {
			return true
		}
	}
	return false
}

// outcome are the members of the end of a row.
func outcome(ok bool, output, failure json.RawMessage) map[string]any {
	more := map[string]any{}
	if len(output) > 0 {
		more["result"] = output
	}
	if ok {
		return more
	}
	var f struct{ Code, Message string }
	if json.Unmarshal(failure, &f) != nil || f.Code+f.Message == "" {
		f.Code, f.Message = "failed", "it failed"
	}
	more["error"] = map[string]any{"name": f.Code, "message": f.Code + ": " + f.Message}
	return more
}

// selector names a target in the words of Playwright.
func selector(t *record.Target) string {
	if t == nil || t.Element == nil {
		return ""
	}
	quoted := func(text string) string {
		b, _ := json.Marshal(text) // a string
		return string(b)
	}
	for _, c := range t.Candidates {
		switch {
		case c.Role != "":
			return "internal:role=" + c.Role + "[name=" + quoted(c.Name) + "i]"
		case c.Selector != "":
			return c.Selector
		}
	}
	return ""
}

// unfinished ends the rows that the recording does not see end.
func (e *export) unfinished() {
	for i := len(e.calls) - 1; i >= 0; i-- {
		c := &e.calls[i]
		cut := map[string]any{
			"error": map[string]any{"name": "recording_cut", "message": "the recording ends before the call does"},
		}
		for j := len(c.Steps) - 1; j >= 0; j-- {
			e.after(e.last, e.rows[c.Steps[j].ID].id, cut)
		}
		for _, g := range e.groups[c.ID] {
			e.after(e.last, g.id, cut)
		}
		e.after(e.last, callID(c.ID), cut)
	}
}
