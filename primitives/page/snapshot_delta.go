package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// keptSnapshot is what a later snapshot is compared with.
type keptSnapshot struct {
	about string // the request it answers
	rows  []treeRow
	// partial: rows followed that were not read.
	partial bool
}

// Size implements primitives.Kept.
func (s *keptSnapshot) Size() int {
	size := 0
	for _, row := range s.rows {
		size += len(row.text) + 32
	}
	return size
}

// earlierSnapshot finds a snapshot of the same request.
func earlierSnapshot(r *primitives.Refs, id, about string) (*keptSnapshot, error) {
	s, ok := r.Kept(id).(*keptSnapshot)
	switch {
	case !ok:
		return nil, fault.New(fault.InvalidArguments, "the tab keeps no snapshot of this id").With("since", primitives.CutText(id, 40)).
			Next("take a snapshot without since")
	case s.about != about:
		return nil, fault.New(fault.InvalidArguments, "the earlier snapshot has another ref, locator, format, offset or other options").With("since", primitives.CutText(id, 40))
	}
	return s, nil
}

// snapshotDelta is what became different since an earlier snapshot.
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

	omitted int // differences that Text has no room for
}

// compareSnapshots reports the differences in at most so many bytes. Where one of the
// two snapshots ends before its page does, rows beyond the last common one are left out.
func compareSnapshots(since string, then, now *keptSnapshot, most int) *snapshotDelta {
	before, after := rowKeys(then.rows), rowKeys(now.rows)
	old := make(map[string]int, len(before))
	for i, k := range before {
		old[k] = i
	}
	d := &snapshotDelta{Since: since}
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
	write := func(mark byte, i int) {
		if in := around[i]; in >= 0 && !written[in] {
			// Only the nearest row around it: enough to find the place.
			line(' ', now.rows[in])
			written[in] = true
		}
		line(mark, now.rows[i])
		written[i] = true
	}
	lastThen, lastNow := -1, -1
	for i, k := range after {
		if j, there := old[k]; there {
			lastThen, lastNow = max(lastThen, j), i
		}
	}
	seen := make(map[string]bool, len(after))
	for i, k := range after {
		seen[k] = true
		switch j, there := old[k]; {
		case !there && then.partial && i > lastNow:
		case !there:
			d.Added++
			write('+', i)
		case !bytes.Equal(then.rows[j].text, now.rows[i].text):
			d.Changed++
			write('~', i)
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
	for i, row := range then.rows {
		if !removed(i) {
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
		line('-', row)
	}
	d.Text = b.String()
	return d
}

// rowKeys names rows so that the same row has the same name in two snapshots:
// by its ref, or else by the row it is in and how many such it holds before it.
func rowKeys(rows []treeRow) []string {
	keys := make([]string, len(rows))
	around := parentsOf(rows)
	count := map[string]int{}
	for i, r := range rows {
		if keys[i] = r.key; keys[i] == "" {
			keys[i] = rowRef(r.text)
		}
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
	if bytes.HasPrefix(rest, []byte(` "`)) {
		end := 2
		for end < len(rest) && rest[end] != '"' {
			if rest[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(rest) {
			return ""
		}
		rest = rest[end+1:]
	}
	rest, ok := bytes.CutPrefix(rest, []byte(" [ref="))
	if !ok {
		return ""
	}
	end := bytes.IndexByte(rest, ']')
	if end < 0 {
		return ""
	}
	return string(rest[:end])
}
