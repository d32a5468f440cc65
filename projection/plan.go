package projection

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/sites/manifest"
)

const (
	maxFrames     = 16
	maxExtractors = 500
	maxFieldDepth = 32
)

// plan is a compiled extract list: what to query in each frame. It is never empty:
// the main frame, which has the address and the title, comes first.
type plan struct {
	frames   []framePlan
	prefixes [][]byte // `"id":` of the extractors, in the order of their members in records
	plain    *plan    // the same without frames and shadow roots; nil when it has none
}

type framePlan struct {
	selectors []string        // of frame elements, outer to inner; nil is the main frame
	at        string          // pointer of the first extractor that names the frame
	extract   json.RawMessage // [[place in the declaration, extractor], ...]
	shapes    []shape         // of what they give
	members   []int           // and where that is in records
	main      json.RawMessage // the whole arguments with the default limits, for the main frame only
}

func (c compiler) plan(v *value) plan {
	p := c.extractors(v)
	if simple, found := withoutExtensions(v, true); found {
		c.fail = failer{new([]manifest.Problem)} // what is wrong was found already
		plain := c.extractors(simple)
		p.plain = &plain
	}
	return p
}

// of returns the plan that a profile has (quirks.PlainExtract).
func (p *plan) of(set quirks.Set) *plan {
	if p.plain != nil && set.Has(quirks.PlainExtract) {
		return p.plain
	}
	return p
}

func (c compiler) extractors(v *value) plan {
	if v == nil || v.kind != kindArray {
		c.fail.invalid("/snapshot/extract", "must be an array")
		return plan{}
	}
	if len(v.items) > maxExtractors {
		c.fail.invalid("/snapshot/extract", "has more than %d extractors", maxExtractors)
		return plan{}
	}
	type group struct {
		framePlan
		ids     []string
		entries []byte
	}
	groups := []*group{{}}
	members := &value{kind: kindObject} // by id; an id that is declared twice is one member
	for i, item := range v.items {
		at := fmt.Sprintf("/snapshot/extract/%d", i)
		if item.kind != kindObject {
			c.fail.invalid(at, "must be an object")
			continue
		}
		id := item.member("id")
		if id == nil || id.kind != kindString || id.text == "" {
			continue // as in the reference: an extractor without an id is skipped
		}
		c.field(item, at, 0)
		frame := c.frame(item.member("frame"), at+"/frame")
		g := slices.IndexFunc(groups, func(g *group) bool { return slices.Equal(g.selectors, frame) })
		if g < 0 {
			g = len(groups)
			groups = append(groups, &group{framePlan: framePlan{selectors: frame, at: at + "/frame"}})
			if len(groups) == maxFrames+2 {
				c.fail.invalid(at+"/frame", "more than %d frames are named", maxFrames)
			}
		}
		b := groups[g].entries
		if len(b) > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendInt(append(b, '['), int64(i), 10), ',')
		groups[g].entries = append(item.append(b), ']')
		groups[g].shapes = append(groups[g].shapes, shapeOf(item))
		groups[g].ids = append(groups[g].ids, id.text)
		if !slices.Contains(members.names, id.text) {
			members.names, members.items = append(members.names, id.text), append(members.items, nil)
		}
	}
	members.orderMembers() // as those of an object in JavaScript
	var p plan
	for _, name := range members.names {
		p.prefixes = append(p.prefixes, append(appendString(nil, name), ':'))
	}
	for _, g := range groups {
		for _, id := range g.ids {
			g.members = append(g.members, slices.Index(members.names, id))
		}
		g.extract = slices.Concat([]byte("["), g.entries, []byte("]"))
		if g.selectors == nil {
			g.main = slices.Concat(
				[]byte(`{"extract":`), g.extract, []byte(`,"limits":`), DefaultLimits.encoded(), []byte("}"),
			)
		}
		p.frames = append(p.frames, g.framePlan)
	}
	return p
}

// withoutExtensions copies an extract list, an extractor or a field without the
// members frame, where it may have that, and shadow.
func withoutExtensions(v *value, frame bool) (plain *value, found bool) {
	if v == nil {
		return nil, false
	}
	plain = &value{kind: v.kind, text: v.text}
	for i, item := range v.items {
		if v.kind == kindObject {
			name := v.names[i]
			if name == "shadow" || frame && name == "frame" {
				found = true
				continue
			}
			if name == "fields" && item.kind == kindObject {
				fields := &value{kind: kindObject, names: item.names}
				for _, field := range item.items {
					f, has := withoutExtensions(field, false)
					fields.items, found = append(fields.items, f), found || has
				}
				item = fields
			}
			plain.names, plain.items = append(plain.names, name), append(plain.items, item)
			continue
		}
		b, has := withoutExtensions(item, frame)
		plain.items, found = append(plain.items, b), found || has
	}
	return plain, found
}

// field checks an extractor or a field. Members it does not know are left
// alone, as in the reference.
func (c compiler) field(v *value, at string, depth int) {
	for _, name := range []string{"selector", "xpath", "closest", "attribute", "property"} {
		if depth == 0 && name == "closest" {
			break // those that follow mean nothing on an extractor
		}
		c.text(v, at, name, false)
	}
	if s := v.member("shadow"); s.given() && s.kind != kindTrue && s.kind != kindFalse {
		c.fail.invalid(at+"/shadow", "must be a boolean")
	}
	fields := v.member("fields")
	if !fields.given() {
		return
	}
	if fields.kind != kindObject {
		c.fail.invalid(at+"/fields", "must be an object")
		return
	}
	if depth == maxFieldDepth {
		c.fail.invalid(at+"/fields", "fields are nested more than %d deep", maxFieldDepth)
		return
	}
	for i, name := range fields.names {
		here := at + "/fields/" + escapeToken(name)
		if fields.items[i].kind != kindObject {
			c.fail.invalid(here, "must be an object")
			continue
		}
		c.field(fields.items[i], here, depth+1)
	}
}

// frame reads the chain of frame selectors of an extractor: a string or a list.
func (c compiler) frame(v *value, at string) []string {
	if !v.given() {
		return nil
	}
	list := []*value{v}
	if v.kind == kindArray {
		list = v.items
	}
	var out []string
	for _, s := range list {
		if s.kind != kindString || v.kind == kindArray && strings.TrimSpace(s.text) == "" {
			c.fail.invalid(at, "must be a selector or a list of selectors")
			return nil
		}
		if s.text != "" {
			out = append(out, s.text)
		}
	}
	if len(out) > maxFrames {
		c.fail.invalid(at, "names frames more than %d deep", maxFrames)
		return nil
	}
	return out
}
