package page

import (
	"bytes"
	"strings"
)

// The compact form of a snapshot has one line for each row of a table, each item of a
// list and each list of choices, and refs only where something can be done. Parts of the
// page keep theirs, so that they can be read alone.

const (
	// compactPieces and compactBytes bound what becomes one line.
	compactPieces = 24
	compactBytes  = 600
)

// stillRoles are the roles of rows that only say something.
var stillRoles = map[string]bool{
	"paragraph": true, "heading": true, "listitem": true, "row": true, "cell": true,
	"rowheader": true, "columnheader": true, "img": true, "separator": true,
	"definition": true, "term": true, "blockquote": true, "status": true, "math": true,
	"tooltip": true, "progressbar": true, "meter": true, "figure": true,
	"sectionheader": true, "sectionfooter": true, "note": true, "log": true, "timer": true,
}

// cellRoles are the roles of what a row of a table consists of.
var cellRoles = map[string]bool{"cell": true, "gridcell": true, "rowheader": true, "columnheader": true}

// doing are the marks of rows that something can be done with.
var doing = [][]byte{
	[]byte("[clickable]"), []byte("[draggable]"), []byte("[expanded]"), []byte("[collapsed]"),
	[]byte("[selected]"), []byte("[focused]"), []byte("[scrolls="), []byte("[sort="),
}

// outlineRow is a row of text taken apart.
type outlineRow struct {
	role, name, marks, ref string
	content                string // after the colon
	hasContent             bool
}

// parseRow takes a row of text apart. What the page says cannot be taken for a mark: names
// are quoted and stand before the marks, text stands after them.
func parseRow(text []byte) outlineRow {
	rest := string(bytes.TrimPrefix(text, []byte("- ")))
	var r outlineRow
	end := strings.IndexAny(rest, " :")
	if end < 0 {
		r.role = rest
		return r
	}
	r.role, rest = rest[:end], rest[end:]
	if strings.HasPrefix(rest, ` "`) {
		at := quotedEnd(rest, 2)
		r.name, rest = rest[1:at], rest[at:]
	}
	for _, mark := range []string{` ≈"`, ` — "`} { // beside its name
		if strings.HasPrefix(rest, mark) {
			at := quotedEnd(rest, len(mark))
			r.name, rest = strings.TrimSpace(r.name+rest[:at]), rest[at:]
		}
	}
	var marks strings.Builder
	for strings.HasPrefix(rest, " [") {
		end := strings.IndexByte(rest, ']')
		if end < 0 {
			break
		}
		mark := rest[1 : end+1]
		rest = rest[end+1:]
		if ref, ok := strings.CutPrefix(mark, "[ref="); ok && r.ref == "" {
			r.ref = strings.TrimSuffix(ref, "]")
			continue
		}
		marks.WriteString(" " + mark)
	}
	r.marks = marks.String()
	r.content, r.hasContent = strings.CutPrefix(rest, ": ")
	return r
}

// quotedEnd is where the quoted text ends that begins before at.
func quotedEnd(text string, at int) int {
	for at < len(text) && text[at] != '"' {
		if text[at] == '\\' {
			at++
		}
		at++
	}
	return min(at+1, len(text))
}

// idle reports whether nothing can be done with the row.
func (r outlineRow) idle() bool {
	if !stillRoles[r.role] {
		return false
	}
	for _, d := range doing {
		if strings.Contains(r.marks, string(d)) {
			return false
		}
	}
	return true
}

// head is the row without what it contains.
func (r outlineRow) head() string {
	out := r.role
	if r.name != "" {
		out += " " + r.name
	}
	if r.ref != "" && !r.idle() {
		out += " [ref=" + r.ref + "]"
	}
	return out + r.marks
}

func (r outlineRow) line() string {
	if r.hasContent {
		return r.head() + ": " + r.content
	}
	return r.head()
}

// compact returns rows in the compact form. Each keeps the ref it had as its key, so that
// two snapshots can be compared.
func compact(rows []treeRow) []treeRow {
	out := make([]treeRow, 0, len(rows))
	for i := 0; i < len(rows); {
		end := endOf(rows, i)
		r := parseRow(rows[i].text)
		inside := rows[i+1 : end]
		if r.role == "text" && partsOnly(r.content) {
			i++
			continue
		}
		line, merged := r.compact(inside, false)
		row := treeRow{depth: rows[i].depth, text: []byte("- " + line), key: r.ref}
		if len(line) > longText && r.role != "heading" {
			short, _ := r.compact(inside, true)
			if len(short) < len(line) {
				row.short = []byte("- " + short)
			}
		}
		out = append(out, row)
		if merged {
			i = end
		} else {
			i++
		}
	}
	return withoutLoneLists(out)
}

// withoutLoneLists leaves out the rows of lists that are all there is of what they are in: it stands for them.
func withoutLoneLists(rows []treeRow) []treeRow {
	out := make([]treeRow, 0, len(rows))
	var add func(inside []treeRow, up int, within bool)
	add = func(inside []treeRow, up int, within bool) {
		for i := 0; i < len(inside); {
			end := endOf(inside, i)
			row := inside[i]
			deeper := inside[i+1 : end]
			alone := within && i == 0 && end == len(inside)
			if alone && len(deeper) > 0 && parseRow(row.text).line() == "list [ref="+row.key+"]" {
				add(deeper, up+1, true)
			} else {
				row.depth -= up
				out = append(out, row)
				add(deeper, up, true)
			}
			i = end
		}
	}
	add(rows, 0, false)
	return out
}

// compact is a row on one line, with what is in it where merged says so. cut leaves the beginnings of long texts.
func (r outlineRow) compact(inside []treeRow, cut bool) (line string, merged bool) {
	if cut && r.hasContent {
		r.content = cutWords(r.content, longText)
	}
	switch r.role {
	case "row":
		return r.orOwn(r.cells(inside, cut))
	case "listitem":
		if only, ok := r.onlyControl(inside); ok {
			return only, true
		}
		return r.orOwn(r.inline(inside, cut))
	case "paragraph", "cell", "heading", "definition", "blockquote":
		return r.orOwn(r.inline(inside, cut))
	case "combobox":
		return r.orOwn(r.choices(inside))
	case "canvas":
		return r.line() + " [opaque]", false
	}
	return r.line(), false
}

// endOf is where the rows end that are in a row.
func endOf(rows []treeRow, at int) int {
	end := at + 1
	for end < len(rows) && rows[end].depth > rows[at].depth {
		end++
	}
	return end
}

// partsOnly reports whether a text only parts what stands before it from what comes after.
func partsOnly(text string) bool {
	return text != "" && strings.Trim(text, " |/\\·•›»>,;:") == ""
}

// onlyControl is the control that is all of an item of a list: its role says enough.
func (r outlineRow) onlyControl(inside []treeRow) (string, bool) {
	if !r.idle() || r.name != "" || r.marks != "" || r.hasContent {
		return "", false
	}
	line := ""
	for i, row := range inside {
		in := parseRow(row.text)
		switch {
		case in.role == "text" && partsOnly(in.content):
		case line != "", in.ref == "", in.idle(), endOf(inside, i) > i+1:
			return "", false
		default:
			line = in.line()
		}
	}
	return line, line != ""
}

// orOwn is a line for a row and what is in it, or that of the row alone where what is in it
// keeps rows of its own: nothing is said twice.
func (r outlineRow) orOwn(line string, merged bool) (string, bool) {
	if merged {
		return line, true
	}
	return r.line(), false
}

// cells is a row of a table on one line, its cells parted by bars. merged is false where
// it is too much for a line.
func (r outlineRow) cells(inside []treeRow, cut bool) (line string, merged bool) {
	if len(inside) == 0 {
		return r.line(), true
	}
	depth, headers := inside[0].depth, 0
	var cells []string
	for i := 0; i < len(inside); {
		end := i + 1
		for end < len(inside) && inside[end].depth > inside[i].depth {
			end++
		}
		cell := parseRow(inside[i].text)
		text, ok := cell.line(), true
		if cellRoles[cell.role] {
			text, ok = cell.pieces(inside[i+1:end], cut)
			if cell.role == "columnheader" {
				headers++
			}
		} else if end > i+1 {
			ok = false
		}
		if !ok || inside[i].depth != depth || len(cells) == compactPieces {
			return "", false
		}
		cells = append(cells, text)
		i = end
	}
	if headers == len(cells) && r.idle() {
		r.role, r.ref = "columnheaders", ""
	}
	return r.bounded(strings.Join(cells, " | "))
}

// pieces is a cell: its text, or what can be used in it. A name that has the text in it
// stands for both.
func (r outlineRow) pieces(inside []treeRow, cut bool) (string, bool) {
	if cut {
		r.content = cutWords(r.content, longText)
	}
	own := strings.TrimSpace(r.name + r.marks)
	switch {
	case r.role == "gridcell" && r.ref == "" && r.marks == "": // it takes no focus and no click
		own = r.content
		if r.name != "" && !strings.Contains(r.name, r.content) {
			own = r.name + ": " + r.content
		} else if r.name != "" {
			own = r.name
		}
	case r.role == "gridcell" || !r.idle() || own != "":
		own = r.line()
	default:
		own = r.content
	}
	text, ok := joined(inside, cut)
	return strings.TrimSpace(own + " " + text), ok
}

// inline is an item of a list, or the like, with what is in it on one line.
func (r outlineRow) inline(inside []treeRow, cut bool) (string, bool) {
	text, ok := joined(inside, cut)
	if !ok {
		return "", false
	}
	if r.hasContent {
		text = strings.TrimSpace(r.content + " " + text)
	}
	return r.bounded(text)
}

// choices is a list of choices with its options. They are chosen by their words, so they
// need no refs.
func (r outlineRow) choices(inside []treeRow) (string, bool) {
	if len(inside) == 0 {
		return r.line(), true
	}
	var names []string
	for _, row := range inside {
		o := parseRow(row.text)
		if o.role != "option" {
			return "", false
		}
		name := o.name
		if strings.Contains(o.marks, "[disabled]") {
			name += " [disabled]"
		}
		names = append(names, name)
	}
	line := r.line() + " (choices: " + strings.Join(names, ", ") + ")"
	return line, len(line) <= 2*compactBytes
}

func (r outlineRow) bounded(text string) (string, bool) {
	line := r.head()
	if text != "" {
		line += ": " + text
	}
	return line, len(line) <= compactBytes
}

// joined is rows on one line; ok is false where they are no plain sequence of texts and
// controls.
func joined(rows []treeRow, cut bool) (text string, ok bool) {
	if len(rows) > compactPieces {
		return "", false
	}
	pieces := make([]string, 0, len(rows))
	for i, row := range rows {
		r := parseRow(row.text)
		inner := i+1 < len(rows) && rows[i+1].depth > row.depth
		switch {
		case r.role == "text" && partsOnly(r.content):
		case r.role == "text":
			pieces = append(pieces, r.piece(i, cut))
		case r.role == "paragraph" && r.idle() && r.name == "" && r.marks == "":
			if r.content != "" {
				pieces = append(pieces, r.piece(i, cut))
			}
		case inner, r.role == "list", r.role == "table", r.role == "iframe", r.role == "listitem", r.role == "row",
			r.role == "heading", r.role == "option":
			return "", false
		default:
			pieces = append(pieces, r.line())
		}
	}
	return strings.Join(pieces, " "), true
}

// piece is the text of a row as one of several. The first of them says what it is about.
func (r outlineRow) piece(place int, cut bool) string {
	switch {
	case !cut:
		return r.content
	case place == 0:
		return cutWords(r.content, longText)
	}
	return cutWords(r.content, longPiece)
}
