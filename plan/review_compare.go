package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"image"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/outrider-run/outrider/evidence/picture"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/plan/spec"
)

// StepReview is what differs after one step.
type StepReview struct {
	Case string    `json:"case"`
	Step string    `json:"step"`
	At   string    `json:"at"`
	Says []Differs `json:"says"`

	place  report.Place
	images *report.Comparison
	tiles  []image.Point // of the picture that differ
}

// Differs is one thing that differs, on a line.
type Differs struct {
	Kind string `json:"kind"` // outcome, address, title, state, outline, request, console, time or pixels
	Was  string `json:"was,omitempty"`
	Is   string `json:"is,omitempty"`
	Line string `json:"line"`
}

// Noise is what differs between two runs of the same, by step.
type Noise struct {
	Steps map[string]*StepNoise `json:"steps"`
}

// StepNoise is what of a step differs by itself.
type StepNoise struct {
	Rows      []Varying     `json:"rows,omitempty"`
	Requests  []Varying     `json:"requests,omitempty"`
	Console   []Varying     `json:"console,omitempty"`
	States    []string      `json:"states,omitempty"` // pointers of members
	Unordered bool          `json:"unordered,omitempty"`
	Moves     []image.Point `json:"moves,omitempty"` // tiles of the picture that differ
	NoPicture bool          `json:"no_picture,omitempty"`
	SlowestMS int64         `json:"slowest_ms,omitempty"`
}

// Varying is a text of which a part differs by itself.
type Varying struct {
	After string `json:"after,omitempty"` // the row before it
	Head  string `json:"head,omitempty"`
	Tail  string `json:"tail,omitempty"`
}

// tile is the side of the parts of a picture that noise is learned of.
const tile = 16

func rowsOf(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(refOf().ReplaceAllString(line, ""), "\n")
		line = strings.ReplaceAll(line, " [focused]", "")
		if strings.TrimSpace(line) != "" {
			out = append(out, line)
		}
	}
	return out
}

var refOf = lazyregexp.New(` \[ref=[a-z0-9]+\]`)

// What differs from run to run on nearly every page.
var volatile = []func() *regexp.Regexp{
	lazyregexp.New(`\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z?)?`),
	lazyregexp.New(`\d{1,2}:\d{2}(?::\d{2})?(?: ?[AP]M)?`),
	lazyregexp.New(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F-]{22}`),
	lazyregexp.New(`\b(?:\d+ )?(?:second|minute|hour)s? ago\b`),
	lazyregexp.New(`https?://(?:127\.0\.0\.1|localhost):\d+`),
}

// steady is a text without what differs by itself everywhere.
func steady(s string) string {
	for _, v := range volatile {
		s = v().ReplaceAllString(s, "…")
	}
	return s
}

// lacks are those of a list that another lacks, each as often as it does.
func lacks(of, in []string) []string {
	count := map[string]int{}
	for _, s := range in {
		count[steady(s)]++
	}
	var out []string
	for _, s := range of {
		if k := steady(s); count[k] > 0 {
			count[k]--
			continue
		}
		out = append(out, s)
	}
	return out
}

// varying are the parts that two lists have in common of what differs in them.
func varying(a, b []string, ordered bool) []Varying {
	one, two := lacks(a, b), lacks(b, a)
	slices.SortStableFunc(one, func(x, y string) int { return cmp.Compare(roleIn(x), roleIn(y)) })
	slices.SortStableFunc(two, func(x, y string) int { return cmp.Compare(roleIn(x), roleIn(y)) })
	var out []Varying
	add := func(v Varying) {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	for i := range max(len(one), len(two)) {
		switch {
		case i >= len(one):
			add(Varying{After: before(b, two[i], ordered), Head: steady(two[i])})
		case i >= len(two):
			add(Varying{After: before(a, one[i], ordered), Head: steady(one[i])})
		default:
			v := common(steady(one[i]), steady(two[i]))
			v.After = before(a, one[i], ordered)
			add(v)
		}
	}
	return out
}

// before is the row before one, which says where on the page it is.
func before(all []string, row string, ordered bool) string {
	if i := slices.Index(all, row); i > 0 && ordered {
		return steady(all[i-1])
	}
	return ""
}

func common(a, b string) Varying {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	apart := func(r rune) bool { return !isWord(r) }
	// A word that varies may begin and end alike by chance.
	v := Varying{Head: a[:strings.LastIndexFunc(a[:n], apart)+1]}
	a, b = a[n:], b[n:]
	n = 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	tail := a[len(a)-n:]
	if i := strings.IndexFunc(tail, apart); i >= 0 {
		v.Tail = tail[i:]
	}
	return v
}

// noisy reports whether a row of a list is one that varies.
func noisy(all []string, row string, noise []Varying, ordered bool) bool {
	text, after := steady(row), ""
	if ordered {
		after = before(all, row, true)
	}
	return slices.ContainsFunc(noise, func(v Varying) bool {
		fits := len(text) >= len(v.Head)+len(v.Tail) || text == v.Head
		fits = fits && strings.HasPrefix(text, v.Head) && strings.HasSuffix(text, v.Tail)
		return fits && (!ordered || v.After == after)
	})
}

func byKey(moments []moment) map[string]moment {
	out := map[string]moment{}
	for _, m := range moments {
		out[m.key] = m
	}
	return out
}

// learn notes what differs between two runs of the same.
func (n *Noise) learn(id string, one, two []moment) {
	other := byKey(two)
	all := &StepNoise{}
	defer func() {
		for _, a := range one {
			if s := n.Steps[id+" "+a.key]; s != nil { // what varies at one step does at the others
				s.Rows = all.Rows
				s.Requests = all.Requests
				s.Console = all.Console
			}
		}
	}()
	for _, a := range one {
		b, ok := other[a.key]
		if !ok {
			continue
		}
		s := &StepNoise{
			Rows:      varying(a.rows, b.rows, true),
			Requests:  varying(a.requests, b.requests, false),
			Console:   varying(a.console, b.console, false),
			NoPicture: a.picture == nil || b.picture == nil,
			SlowestMS: max(a.took, b.took).Milliseconds(),
		}
		s.Unordered = len(s.Rows) == 0 && !slices.EqualFunc(a.rows, b.rows, func(x, y string) bool {
			return steady(x) == steady(y)
		})
		for _, d := range stateDifferences(a.states, b.states) {
			s.States = append(s.States, d.pointer)
		}
		if !s.NoPicture {
			s.Moves = widened(tilesOf(a.picture, b.picture))
		}
		all.Rows = append(all.Rows, s.Rows...)
		all.Requests = append(all.Requests, s.Requests...)
		all.Console = append(all.Console, s.Console...)
		n.Steps[id+" "+a.key] = s
	}
}

// tilesOf are the parts of two pictures that differ.
func tilesOf(a, b []byte) []image.Point {
	d, err := picture.Compare(a, b, picture.Perceptual)
	if err != nil || d.Equal() {
		return nil
	}
	return d.Tiles(tile)
}

// widened are tiles with those around them: what moves comes a little further the next time.
func widened(tiles []image.Point) []image.Point {
	seen := map[image.Point]bool{}
	for _, t := range tiles {
		for x := -3; x <= 3; x++ {
			for y := -1; y <= 1; y++ {
				seen[t.Add(image.Pt(x, y))] = true
			}
		}
	}
	out := slices.Collect(maps.Keys(seen))
	slices.SortFunc(out, func(a, b image.Point) int { return cmp.Or(a.Y-b.Y, a.X-b.X) })
	return out
}

type stateDifference struct{ pointer, was, is string }

// stateDifferences are the members of projections that differ.
func stateDifferences(a, b map[string]json.RawMessage) []stateDifference {
	var out []stateDifference
	one, two := map[string]string{}, map[string]string{}
	for name, raw := range a {
		flatten(name, raw, one)
	}
	for name, raw := range b {
		flatten(name, raw, two)
	}
	for _, p := range slices.Sorted(maps.Keys(one)) {
		if is, ok := two[p]; !ok || steady(is) != steady(one[p]) {
			out = append(out, stateDifference{p, one[p], is})
		}
	}
	for _, p := range slices.Sorted(maps.Keys(two)) {
		if _, ok := one[p]; !ok {
			out = append(out, stateDifference{p, "", two[p]})
		}
	}
	return out
}

func flatten(at string, raw json.RawMessage, out map[string]string) {
	var members map[string]json.RawMessage
	var items []json.RawMessage
	switch {
	case json.Unmarshal(raw, &members) == nil && len(members) > 0:
		for name, v := range members {
			flatten(at+"/"+name, v, out)
		}
	case json.Unmarshal(raw, &items) == nil && len(items) > 0:
		for i, v := range items {
			flatten(fmt.Sprintf("%s/%d", at, i), v, out)
		}
	default:
		out[at] = string(bytes.TrimSpace(raw))
	}
}

// compare adds what differs in a case.
func (r *Reviewed) compare(c *spec.Case, base, head []moment) {
	other := byKey(head)
	asked := [2]heardAll{allOf(base), allOf(head)}
	known := known{said: map[Differs]bool{}, tiles: map[image.Point]bool{}}
	for _, a := range base {
		noise := r.Noise.Steps[c.ID+" "+a.key]
		if noise == nil {
			noise = &StepNoise{SlowestMS: a.took.Milliseconds()}
		}
		s := StepReview{Case: c.Name, Step: a.name, At: a.at.String(), place: a.at}
		b, ok := other[a.key]
		if !ok {
			r.OK = false
			s.say("outcome", "done", "not reached", "the step is not reached")
		} else {
			r.OK = r.OK && (b.ok || !a.ok)
			s.differences(a, b, noise)
			s.heard(a, b, asked, noise)
			known.leaves(&s)
		}
		if len(s.Says) == 0 {
			r.Same++
			continue
		}
		r.Steps = append(r.Steps, s)
	}
}

// known is what was said of earlier steps of a case: a page that stays says it once.
type known struct {
	said  map[Differs]bool
	tiles map[image.Point]bool
}

func (k known) leaves(s *StepReview) {
	s.Says = slices.DeleteFunc(s.Says, func(d Differs) bool {
		if d.Kind == "pixels" && len(s.tiles) > 0 {
			return !slices.ContainsFunc(s.tiles, func(t image.Point) bool { return !k.tiles[t] })
		}
		said := k.said[d] && (d.Kind == "outline" || d.Kind == "state" || d.Kind == "title")
		k.said[d] = true
		return said
	})
	for _, t := range s.tiles {
		k.tiles[t] = true
	}
}

func (s *StepReview) say(kind, was, is, line string) {
	s.Says = append(s.Says, Differs{kind, was, is, report.Shorten(report.Printable(line), 200)})
}

// quiet are those of a list that another lacks, and that are no noise.
func quiet(of, in []string, noise []Varying, ordered bool) []string {
	return slices.DeleteFunc(lacks(of, in), func(s string) bool { return noisy(of, s, noise, ordered) })
}

// slower is by how much a step must be slower than the slowest of base.
const slower = 2 * time.Second

func (s *StepReview) differences(a, b moment, noise *StepNoise) {
	switch {
	case a.ok && !b.ok:
		s.say("outcome", "ok", "failed", "the step fails: "+b.detail)
	case !a.ok && b.ok:
		s.say("outcome", "failed", "ok", "the step failed on base, and is well")
	}
	if a.path != b.path {
		s.say("address", a.path, b.path, "the address is "+b.path+", was "+a.path)
	}
	if steady(a.title) != steady(b.title) {
		s.say("title", a.title, b.title, fmt.Sprintf("the title is %q, was %q", b.title, a.title))
	}
	for _, d := range stateDifferences(a.states, b.states) {
		if !slices.Contains(noise.States, d.pointer) {
			line := fmt.Sprintf("%s is %s, was %s", d.pointer, orNothing(d.is), orNothing(d.was))
			s.say("state", d.was, d.is, line)
		}
	}
	s.outlines(a, b, noise)
	if most := time.Duration(noise.SlowestMS) * time.Millisecond; b.ok && b.took > 2*most && b.took > most+slower {
		s.say("time", most.String(), b.took.String(), fmt.Sprintf("the step took %s, %s at most on base", b.took, most))
	}
	s.pictures(a, b, noise)
}

// heardAll are the requests and messages of all steps of a case.
type heardAll struct{ requests, console []string }

func allOf(moments []moment) (all heardAll) {
	for _, m := range moments {
		all.requests = append(all.requests, m.requests...)
		all.console = append(all.console, m.console...)
	}
	return all
}

// heard compares requests and messages. One that comes a step later is the same.
func (s *StepReview) heard(a, b moment, all [2]heardAll, noise *StepNoise) {
	base, head := all[0], all[1]
	for _, q := range missing(a.requests, head.requests, noise.Requests) {
		s.say("request", q, "", "no request "+q)
	}
	for _, q := range missing(b.requests, base.requests, noise.Requests) {
		s.say("request", "", q, "request "+q)
	}
	for _, m := range missing(b.console, base.console, noise.Console) {
		s.say("console", "", m, m)
	}
	for _, m := range missing(a.console, head.console, noise.Console) {
		s.say("console", m, "", "no more "+m)
	}
}

// missing are those of a list that another has not at all, each once.
func missing(of, in []string, noise []Varying) []string {
	var out []string
	for _, s := range of {
		has := func(t string) bool { return steady(t) == steady(s) }
		if !slices.ContainsFunc(in, has) && !slices.ContainsFunc(out, has) && !noisy(of, s, noise, false) {
			out = append(out, s)
		}
	}
	return out
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// outlines compares roles, names and texts. A row that is another one in the same place is one line.
func (s *StepReview) outlines(a, b moment, noise *StepNoise) {
	gone := quiet(a.rows, b.rows, noise.Rows, true)
	added := quiet(b.rows, a.rows, noise.Rows, true)
	if len(gone)+len(added) == 0 {
		same := slices.EqualFunc(a.rows, b.rows, func(x, y string) bool { return steady(x) == steady(y) })
		if !same && !noise.Unordered && len(noise.Rows) == 0 {
			s.say("outline", "", "", "the order of the page is another")
		}
		return
	}
	for _, was := range gone {
		was = strings.TrimSpace(was)
		i := slices.IndexFunc(added, func(is string) bool { return roleIn(is) == roleIn(was) })
		if i < 0 {
			s.say("outline", was, "", "gone: "+was)
			continue
		}
		is := strings.TrimSpace(added[i])
		added = slices.Delete(added, i, i+1)
		s.say("outline", was, is, is+"  was  "+was)
	}
	for _, is := range added {
		s.say("outline", "", strings.TrimSpace(is), "new: "+strings.TrimSpace(is))
	}
}

// roleIn is the role of a row of an outline.
func roleIn(row string) string {
	role, _, _ := strings.Cut(strings.TrimLeft(row, " -"), " ")
	return strings.TrimSuffix(role, ":")
}

// pictures compares what is drawn, but for what moves by itself.
func (s *StepReview) pictures(a, b moment, noise *StepNoise) {
	if noise.NoPicture || a.picture == nil || b.picture == nil {
		return
	}
	d, err := picture.Compare(a.picture, b.picture, picture.Perceptual)
	if err != nil || d.Equal() {
		return
	}
	if d.Sizes[0] == d.Sizes[1] {
		left := slices.DeleteFunc(d.Tiles(tile), func(p image.Point) bool { return slices.Contains(noise.Moves, p) })
		if len(left) == 0 {
			return
		}
		s.tiles = left
	}
	s.images = report.NewComparison(s.Step, a.picture, b.picture, d.PNG())
	s.say("pixels", "", "", d.String())
}
