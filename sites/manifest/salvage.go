package manifest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
)

// salvage turns errors that cost one declaration into warnings and leaves that
// declaration out: an incomplete projection where drafts are accepted, any
// declaration where Options.Salvage says so, which keeps tools and projections
// that have a name: a call of them says what is wrong. What stays an error
// concerns the document: no JSON, or another protocol.
func (c *checker) salvage(m *Manifest) {
	if c.opts.Parts && !c.opts.Salvage {
		c.leave(m)
	}
	if !c.opts.AcceptDrafts {
		return
	}
	left := map[string]map[int]bool{}
	c.found.errors = slices.DeleteFunc(c.found.errors, func(e found) bool {
		section, i, in := entryOf(e.Pointer)
		switch {
		case in && section == "state_projections":
		case !c.opts.Salvage || e.Pointer == "" || e.Pointer == "/protocol":
			return false
		}
		c.deviations++
		c.found.warn(e.Pointer, e.offset, e.Code, e.Message)
		callable := c.opts.Salvage && (section == "tools" || section == "state_projections")
		if in && (!callable || e.Code == fault.DuplicateName) {
			if left[section] == nil {
				left[section] = map[int]bool{}
			}
			left[section][i] = true
		}
		return true
	})
	omit(c, "states", &m.States, left)
	omit(c, "transitions", &m.Transitions, left)
	omit(c, "context", &m.Context, left)
	omit(c, "imports", &m.Imports, left)
	omit(c, "tools", &m.Tools, left)
	m.Tools = slices.DeleteFunc(m.Tools, func(t Tool) bool { return t.Name == "" })
	omit(c, "signals", &m.Signals, left)
	omit(c, "attachments", &m.Attachments, left)
	omit(c, "checks", &m.Checks, left)
	omit(c, "state_projections", &m.StateProjections, left)
	m.StateProjections = slices.DeleteFunc(m.StateProjections, func(p Projection) bool { return p.Name == "" })
	omit(c, "x_actions/files", &m.Files, left)
}

// leave marks the tools and projections that have errors, and leaves out those
// without a name of their own, with Options.Parts.
func (c *checker) leave(m *Manifest) {
	wrong := map[string]map[int][]Problem{}
	nameless := map[string]map[int]bool{}
	c.found.errors = slices.DeleteFunc(c.found.errors, func(e found) bool {
		section, i, in := entryOf(e.Pointer)
		if !in || section != "tools" && section != "state_projections" && (!c.opts.Inspected || section == "imports") {
			return false
		}
		c.found.left = append(c.found.left, e)
		at := "/" + section + "/" + strconv.Itoa(i)
		if e.Pointer == at+"/name" {
			if nameless[section] == nil {
				nameless[section] = map[int]bool{}
			}
			nameless[section][i] = true
		}
		if wrong[section] == nil {
			wrong[section] = map[int][]Problem{}
		}
		wrong[section][i] = append(wrong[section][i], e.Problem)
		return true
	})
	mark(c, "tools", len(m.Tools), wrong, func(i int, list []Problem) { m.Tools[i].Wrong = list })
	mark(c, "state_projections", len(m.StateProjections), wrong, func(i int, list []Problem) {
		m.StateProjections[i].Wrong = list
	})
	omit(c, "tools", &m.Tools, nameless)
	m.Tools = slices.DeleteFunc(m.Tools, func(t Tool) bool { return t.Name == "" })
	omit(c, "state_projections", &m.StateProjections, nameless)
	m.StateProjections = slices.DeleteFunc(m.StateProjections, func(p Projection) bool { return p.Name == "" })
}

// mark hands the problems of each entry of a section to set, by where the entry
// stands in what was read.
func mark(c *checker, section string, n int, wrong map[string]map[int][]Problem, set func(i int, list []Problem)) {
	places := c.places["/"+section]
	for i := range min(n, len(places)) {
		if list := wrong[section][places[i]]; len(list) > 0 {
			set(i, list)
		}
	}
}

// Invalid is the fault of a declaration that is in its map and cannot be used; nil
// without problems.
func Invalid(what, name string, wrong []Problem) *fault.Error {
	if len(wrong) == 0 {
		return nil
	}
	return Report{Errors: wrong}.Err().With(what, name)
}

// omit takes the entries of a section out of what was read of it. Entries that
// are no objects were never read, so places says where each of list stood.
func omit[T any](c *checker, section string, list *[]T, left map[string]map[int]bool) {
	if len(left[section]) == 0 {
		return
	}
	places, i := c.places["/"+section], -1
	*list = slices.DeleteFunc(*list, func(T) bool {
		i++
		return i < len(places) && left[section][places[i]]
	})
}

// entryOf says which entry of which section a pointer leads into.
func entryOf(pointer string) (section string, index int, ok bool) {
	rest := strings.TrimPrefix(pointer, "/")
	section, rest, _ = strings.Cut(rest, "/")
	if section == "x_actions" {
		var member string
		member, rest, _ = strings.Cut(rest, "/")
		section += "/" + member
	}
	number, _, _ := strings.Cut(rest, "/")
	index, err := strconv.Atoi(number)
	return section, index, err == nil && index >= 0
}
