package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// keptSnapshot is kept for a later snapshot to be compared with.
type keptSnapshot struct {
	about string // the request it answers
	rows  []treeRow
	// partial: rows followed that were not read.
	partial bool
	doc     *documentRows // of the outermost document, which the page may have too
	// url and title are those of the page, and whole says that the snapshot is of all of it, with the rows around each.
	url   string
	title string
	whole bool
}

// Size implements primitives.Kept.
func (s *keptSnapshot) Size() int {
	size := 0
	for _, row := range s.rows {
		size += len(row.text) + 32
	}
	if s.doc != nil {
		for _, row := range s.doc.rows {
			size += len(row.text)/2 + 32 // some of its text is that of the rows above
		}
	}
	return size
}

// earlierSnapshot finds a snapshot of the same request.
func earlierSnapshot(r *primitives.Refs, id, about string) (*keptSnapshot, error) {
	s, ok := r.Kept(id).(*keptSnapshot)
	switch {
	case !ok:
		return nil, fault.New(fault.InvalidArguments, "the tab keeps no snapshot of this id").
			With("since", primitives.CutText(id, 40)).
			Next("take a snapshot without since")
	case s.about != about:
		return nil, fault.New(
			fault.InvalidArguments, "the earlier snapshot has another ref, locator, format, offset or other options",
		).With("since", primitives.CutText(id, 40))
	}
	return s, nil
}

// newestAnswer is the last answer of the outermost document to the same request, nil where nobody kept it.
// Rows that it has in common with the next answer are not sent again.
func newestAnswer(r *primitives.Refs, about string) *documentRows {
	s, _ := r.NewestKept(func(k primitives.Kept) bool {
		s, ok := k.(*keptSnapshot)
		return ok && s.about == about
	}).(*keptSnapshot)
	if s == nil {
		return nil
	}
	return s.doc
}

// snapshotDelta is the difference to an earlier snapshot.
type snapshotDelta struct {
	Since     string `json:"since"`
	Added     int    `json:"added"`
	Removed   int    `json:"removed"`
	Changed   int    `json:"changed"`
	Unchanged int    `json:"unchanged"`
	// Text has a line for each difference: "+" for a new row, "-" for one that
	// was removed, "~" for one that differs. The row around the first of
	// them stands above it without a mark.
	Text string `json:"text"`

	omitted int  // differences that Text has no room for
	brief   bool // of what is new, Text has what is in a brief outline
}

// compareSnapshots reports the differences in at most so many bytes. Where one of the
// two snapshots ends before its page does, rows beyond the last common one are left out.
func compareSnapshots(since string, then, now *keptSnapshot, most int, briefly bool) *snapshotDelta {
	d := &snapshotDelta{Since: since}
	var less brief
	if briefly {
		less = briefOf(now.rows)
	}
	var b strings.Builder
	line := func(mark byte, r treeRow) {
		if b.Len() > 0 && b.Len()+len(r.text)+2*r.depth+3 > most {
			if mark != ' ' {
				d.omitted++
			}
			return
		}
		b.WriteByte(mark)
		for range r.depth {
			b.WriteString("  ")
		}
		b.WriteByte(' ')
		b.Write(r.text)
		b.WriteByte('\n')
	}
	around := parentsOf(now.rows)
	written := map[int]bool{} // rows of now that are in the text already
	write := func(mark byte, i int, note string) {
		if in := around[i]; in >= 0 && !written[in] {
			// Only the nearest row around it: enough to find the place.
			line(' ', now.rows[in])
			written[in] = true
		}
		row := now.rows[i]
		if mark == '+' {
			in, told := less.row(row, i)
			d.brief = d.brief || !told || in != nil
			if in != nil {
				line(mark, *in)
			}
			if !told {
				return
			}
			if less.cut && row.short != nil {
				row.text = row.short
			}
		}
		if note != "" {
			row.text = append(bytes.Clone(row.text), note...)
		}
		line(mark, row)
		written[i] = true
	}
	if slices.EqualFunc(then.rows, now.rows, sameRow) { // as after most changes of texts and states
		for i, row := range now.rows {
			if bytes.Equal(then.rows[i].text, row.text) {
				d.Unchanged++
				continue
			}
			d.Changed++
			write('~', i, "")
		}
		d.Text = b.String()
		return d
	}
	before, after := rowKeys(then.rows), rowKeys(now.rows)
	old := make(map[string]int, len(before))
	for i, k := range before {
		old[k] = i
	}
	lastThen, lastNow := -1, -1
	for i, k := range after {
		if j, there := old[k]; there {
			lastThen, lastNow = max(lastThen, j), i
		}
	}
	seen := make(map[string]bool, len(after))
	elsewhere := movedRows(parentsOf(then.rows), around, before, after, old)
	for i, k := range after {
		seen[k] = true
		switch j, there := old[k]; {
		case !there && then.partial && i > lastNow:
		case !there:
			d.Added++
			write('+', i, "")
		case !bytes.Equal(then.rows[j].text, now.rows[i].text):
			d.Changed++
			write('~', i, "")
		case elsewhere[i]:
			d.Changed++
			write('~', i, movedNote)
		default:
			d.Unchanged++
		}
	}
	above := parentsOf(then.rows)
	removed := func(i int) bool { return i >= 0 && !seen[before[i]] && (i < lastThen || !now.partial) }
	inside := make([]int, len(before)) // rows that went away with the row around them
	for i := len(before) - 1; i >= 0; i-- {
		if removed(i) && removed(above[i]) {
			inside[above[i]] += inside[i] + 1
		}
	}
	var run []treeRow // neighbours that are gone, as they are reported
	flush := func() {
		for _, row := range shortened(run) {
			line('-', row)
		}
		run = run[:0]
	}
	for i, row := range then.rows {
		if !removed(i) {
			flush()
			continue
		}
		d.Removed++
		if removed(above[i]) {
			continue // reported by the row around it
		}
		row.depth = 0
		if inside[i] > 0 {
			row.text = fmt.Appendf(bytes.Clone(row.text), " (and %d rows in it)", inside[i])
		}
		run = append(run, row)
	}
	flush()
	d.Text = b.String()
	return d
}

// mostGone is how many neighbours that are gone are reported one by one, and goneText how
// much of the last one: who asks has seen them.
const mostGone, goneText = 3, 80

// shortened is a run of rows that are gone, the first and the last of a long one.
func shortened(run []treeRow) []treeRow {
	if len(run) <= mostGone || bytes.HasPrefix(run[0].text, []byte("{")) {
		return run
	}
	last := primitives.CutText(string(bytes.TrimPrefix(run[len(run)-1].text, []byte("- "))), goneText)
	return []treeRow{run[0], {text: fmt.Appendf(nil, "- … %d more, to %s", len(run)-1, last)}}
}

// movedNote follows a row that has another place among its neighbours, and says the same.
const movedNote = " (moved)"

// movedRows are the rows of now that stand elsewhere among the rows of the same row around
// them: the fewest whose move makes the old order the new one.
func movedRows(parentsThen, parentsNow []int, before, after []string, old map[string]int) map[int]bool {
	name := func(keys []string, i int) string {
		if i < 0 {
			return ""
		}
		return keys[i]
	}
	siblings := map[int][]int{}
	for i, k := range after {
		if j, there := old[k]; there && name(before, parentsThen[j]) == name(after, parentsNow[i]) {
			siblings[parentsNow[i]] = append(siblings[parentsNow[i]], i)
		}
	}
	moved := map[int]bool{}
	for _, rows := range siblings {
		if slices.IsSortedFunc(rows, func(a, b int) int { return old[after[a]] - old[after[b]] }) {
			continue
		}
		for _, i := range rows {
			moved[i] = true
		}
		for _, i := range longestInOrder(rows, func(i int) int { return old[after[i]] }) {
			delete(moved, i)
		}
	}
	return moved
}

// longestInOrder is the longest part of list whose places grow.
func longestInOrder(list []int, place func(int) int) []int {
	var ends []int // of the best run of each length, by index of list
	previous := make([]int, len(list))
	for n, i := range list {
		at := sort.Search(len(ends), func(k int) bool { return place(list[ends[k]]) >= place(i) })
		previous[n] = -1
		if at > 0 {
			previous[n] = ends[at-1]
		}
		if at == len(ends) {
			ends = append(ends, n)
		} else {
			ends[at] = n
		}
	}
	var out []int
	if len(ends) > 0 {
		for n := ends[len(ends)-1]; n >= 0; n = previous[n] {
			out = append(out, list[n])
		}
	}
	return out
}

// sameRow: both are rows of the same element, or without one, as deep as each other. Where that is true of all rows of
// two snapshots they have the same keys.
func sameRow(a, b treeRow) bool {
	return a.depth == b.depth && (bytes.Equal(a.text, b.text) && a.key == b.key || a.ref() == b.ref())
}

// ref is the ref of the row, "" when it has none.
func (r treeRow) ref() string {
	if r.key != "" {
		return r.key
	}
	return rowRef(r.text)
}

// rowKeys names rows so that the same row has the same name in two snapshots:
// by its ref, or else by the row it is in and how many such it holds before it.
func rowKeys(rows []treeRow) []string {
	keys := make([]string, len(rows))
	around := parentsOf(rows)
	count := map[string]int{}
	for i, r := range rows {
		keys[i] = r.ref()
		if keys[i] != "" {
			continue
		}
		in := "/"
		if around[i] >= 0 {
			in = keys[around[i]] + "/"
		}
		count[in]++
		keys[i] = in + strconv.Itoa(count[in])
	}
	return keys
}

// parentsOf returns for each row the row that contains it, -1 for none.
func parentsOf(rows []treeRow) []int {
	parents := make([]int, len(rows))
	var open []int
	for i, r := range rows {
		for len(open) > 0 && rows[open[len(open)-1]].depth >= r.depth {
			open = open[:len(open)-1]
		}
		parents[i] = -1
		if len(open) > 0 {
			parents[i] = open[len(open)-1]
		}
		open = append(open, i)
	}
	return parents
}

// rowRef is the ref of a row, "" when it has none. What the page says cannot be
// taken for it: names are quoted and stand before it, text stands after it.
func rowRef(row []byte) string {
	if len(row) > 0 && row[0] == '{' {
		var o struct {
			Ref string `json:"ref"`
		}
		if json.Unmarshal(row, &o) != nil {
			return ""
		}
		return o.Ref
	}
	rest := bytes.TrimPrefix(row, []byte("- "))
	i := bytes.IndexAny(rest, " :")
	if i < 0 || rest[i] == ':' {
		return ""
	}
	rest = rest[i:]
	for _, mark := range []string{` "`, ` ≈"`, ` — "`} { // the name, and what is said beside it
		if bytes.HasPrefix(rest, []byte(mark)) {
			rest = rest[quotedEnd(string(rest), len(mark)):]
		}
	}
	rest, ok := bytes.CutPrefix(rest, []byte(" [ref="))
	if !ok {
		return ""
	}
	ref, _, ok := bytes.Cut(rest, []byte{']'})
	if !ok {
		return ""
	}
	return string(ref)
}
