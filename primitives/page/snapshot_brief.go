package page

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/outrider-run/outrider/primitives"
)

// An outline is there to act by. In a long one, rows that are many of a kind are told by the first of them, and long
// texts by their beginning: who wants to read them reads the page, and a search finds them.

const (
	// longOutline is how many bytes of rows make an outline long.
	longOutline = 4000
	// mostAlike is how many rows of a kind side by side are told one by one, and firstAlike how many of more than that.
	mostAlike  = 20
	firstAlike = 10
	// longText is how much of a text a long outline has, and longPiece how much of one that stands after a control.
	longText  = 160
	longPiece = 40
	// alikeText is how much is told of the last of many.
	alikeText = 60
)

// manyRoles are the roles of rows that a page has many of, and that say what a person reads or chooses by its words.
var manyRoles = map[string]bool{
	"row": true, "listitem": true, "option": true, "treeitem": true, "article": true, "link": true, "paragraph": true,
	"text": true, "definition": true, "term": true, "img": true,
}

// keptMarks are those of rows that are told though they are one of many.
var keptMarks = [][]byte{
	[]byte("[focused]"), []byte("[checked]"), []byte("[selected]"), []byte("[current"), []byte("[invalid"),
	[]byte("[expanded]"),
}

// brief is what a long outline leaves out.
type brief struct {
	hidden []bool         // rows, nil where the outline is not long
	notes  map[int]string // what stands in place of those from this one on
	cut    bool           // long texts are cut
}

// briefOf is what the outline of these rows leaves out.
func briefOf(rows []treeRow) brief {
	size := 0
	for _, r := range rows {
		size += len(r.text)
	}
	if size < longOutline {
		return brief{}
	}
	b := brief{hidden: make([]bool, len(rows)), notes: map[int]string{}, cut: true}
	b.children(rows, 0, len(rows))
	return b
}

// children hides what is many among the rows of one place.
func (b *brief) children(rows []treeRow, from, to int) {
	for i := from; i < to; {
		role := parseRow(rows[i].text).role
		var alike []int
		end := i
		for end < to && rows[end].depth == rows[i].depth && parseRow(rows[end].text).role == role {
			alike = append(alike, end)
			end += endOf(rows[end:to], 0)
		}
		if len(alike) > mostAlike && manyRoles[role] {
			b.hide(rows, alike[firstAlike:], end)
			alike = alike[:firstAlike]
		}
		for n, at := range alike {
			inside := end
			if n+1 < len(alike) {
				inside = alike[n+1]
			} else {
				inside = at + endOf(rows[at:to], 0)
			}
			b.children(rows, at+1, inside)
		}
		i = max(end, i+1)
	}
}

// hide hides rows and what is in them, but for those in a state of their own.
func (b *brief) hide(rows []treeRow, alike []int, end int) {
	first := -1
	last := 0
	count := 0
	for n, at := range alike {
		to := end
		if n+1 < len(alike) {
			to = alike[n+1]
		}
		if stateOf(rows[at:to]) {
			continue
		}
		if first < 0 {
			first = at
		}
		last = at
		count++
		for i := at; i < to; i++ {
			b.hidden[i] = true
		}
	}
	if first >= 0 {
		text := string(bytes.TrimPrefix(rows[last].text, []byte("- ")))
		b.notes[first] = fmt.Sprintf("- … %d more, to %s", count, cutWords(text, alikeText))
	}
}

// stateOf reports whether one of the rows has a state that is told.
func stateOf(rows []treeRow) bool {
	for _, r := range rows {
		for _, mark := range keptMarks {
			if bytes.Contains(r.text, mark) {
				return true
			}
		}
	}
	return false
}

// row is the note that stands before a row, nil without one, and whether the row itself is told.
func (b brief) row(r treeRow, at int) (note *treeRow, told bool) {
	if b.hidden == nil {
		return nil, true
	}
	if text := b.notes[at]; text != "" {
		note = &treeRow{depth: r.depth, text: []byte(text)}
	}
	return note, !b.hidden[at]
}

// rows are those of an outline that it tells, and whether something of them is left out.
func (b brief) rows(all []treeRow) (told []treeRow, less bool) {
	if b.hidden == nil {
		return all, false
	}
	told = make([]treeRow, 0, len(all))
	for i, r := range all {
		note, tell := b.row(r, i)
		if note != nil {
			told = append(told, *note)
			less = true
		}
		if !tell {
			continue
		}
		if r.short != nil {
			r.text = r.short
			less = true
		}
		told = append(told, r)
	}
	return told, less
}

// cutWords is the beginning of a text, up to a word.
func cutWords(text string, most int) string {
	short := primitives.CutText(text, most)
	if len(short) == len(text) {
		return text
	}
	if at := strings.LastIndexByte(short, ' '); at > len(short)/2 {
		short = short[:at]
	}
	return short + "…"
}
