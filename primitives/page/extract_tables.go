package page

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/locator"
	"github.com/outrider-run/outrider/primitives/plain"
)

// extractTable is a table or a list of a page as data.
type extractTable struct {
	Ref     string     `json:"ref"`
	Kind    string     `json:"kind"`
	Columns []string   `json:"columns,omitempty"`
	Rows    [][]string `json:"rows"`
	// Count is how many rows there are to read: those that hold the words of the filter.
	Count int `json:"count"`
	// First is the number of the first of Rows among them.
	First int `json:"first,omitempty"`
	// Of is how many rows the page says that there are, where it draws fewer.
	Of int `json:"of,omitempty"`
	// Digest is another where the rows are others.
	Digest string `json:"digest"`
}

// nextPage is the control that leads to the next page of a table.
type nextPage struct {
	Ref  string `json:"ref,omitempty"`
	Name string `json:"name,omitempty"`
	// Last: there is one, and it cannot be used now.
	Last bool `json:"last,omitempty"`
}

// documentTables is the answer of the page library for one document.
type documentTables struct {
	Tables []struct {
		Ref  string     `json:"ref"`
		Kind string     `json:"kind"`
		Head []string   `json:"head"`
		Rows [][]string `json:"rows"`
		Of   int        `json:"of"`
	} `json:"tables"`
	Frames  []string  `json:"frames"`
	Stopped bool      `json:"stopped"`
	Next    *nextPage `json:"next"`
	Hosts   []string  `json:"hosts"`
	More    bool      `json:"more_hosts"`
}

// tables reads the tables and lists of a page, those that the call asks for.
func (in *pageExtractIn) tables(ctx context.Context, p primitives.Page, out *pageExtractOut) error {
	at, args, err := partOf(ctx, p, in.Ref, in.Locator)
	if err != nil {
		return err
	}
	args["refs"] = in.Refs
	args["links"] = in.Links == nil || *in.Links
	args["time_ms"] = documentWalk.Milliseconds()
	r := tableReader{p: p, slots: make(chan struct{}, sideBySide), alone: in.Frames != nil && !*in.Frames}
	doc, err := r.document(ctx, at.Frame, args, 0)
	if err != nil {
		if in.Ref != "" {
			err = locator.GoneWithFrame(in.Ref, err)
		}
		return err
	}
	out.Tables, out.NextPage = []extractTable{}, doc.Next
	var heads []string
	left, room := 0, in.maxBytes()
	for _, t := range doc.Tables {
		table := extractTable{Ref: t.Ref, Kind: t.Kind, Columns: t.Head, Rows: t.Rows, Of: t.Of}
		table.Digest = digest(t.Rows)
		heads = append(heads, t.Head...)
		if !table.keepColumns(in.Columns) {
			continue
		}
		table.keepRows(in.Filter, in.FirstRow, in.LastRow)
		left += table.fit(&room)
		out.Tables = append(out.Tables, table)
	}
	if len(out.Tables) == 0 && len(in.Columns) > 0 {
		return fault.New(fault.TargetNotFound, "no table has these columns").
			With("columns", in.Columns).With("found", slices.Compact(heads))
	}
	if left > 0 || doc.Stopped {
		out.truncate("tables", extractCut{
			Left: max(left, 1), Next: "ask again with first_row, a filter, fewer columns or a larger max_bytes",
		})
	}
	return nil
}

// keepColumns leaves only the columns that are named, in that order. It reports whether the table has all of them.
func (t *extractTable) keepColumns(names []string) bool {
	if len(names) == 0 {
		return true
	}
	places := make([]int, len(names))
	for i, name := range names {
		places[i] = slices.IndexFunc(t.Columns, func(head string) bool { return sameWords(head, name) })
		if places[i] < 0 {
			return false
		}
	}
	pick := func(row []string) []string {
		out := make([]string, len(places))
		for i, at := range places {
			if at < len(row) {
				out[i] = row[at]
			}
		}
		return out
	}
	t.Columns = pick(t.Columns)
	for i, row := range t.Rows {
		t.Rows[i] = pick(row)
	}
	return true
}

// sameWords compares what a person calls a column with its head, which may be a link or have a mark of its order.
func sameWords(head, name string) bool {
	bare := func(s string) string {
		s = strings.TrimPrefix(s, "[")
		if i := strings.Index(s, "]["); i >= 0 {
			s = s[:i]
		}
		if i := strings.Index(s, "]("); i >= 0 {
			s = s[:i]
		}
		return strings.ToLower(strings.Trim(plain.Comparable(s), " *\\▲▼↑↓⇅:"))
	}
	return bare(head) == bare(name)
}

// keepRows leaves the rows that hold all words of a filter, and of these those from first to last.
func (t *extractTable) keepRows(filter string, first, last int) {
	words := strings.Fields(strings.ToLower(plain.Comparable(filter)))
	if len(words) > 0 {
		t.Rows = slices.DeleteFunc(t.Rows, func(row []string) bool {
			text := strings.ToLower(plain.Comparable(strings.Join(row, " ")))
			return slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
		})
	}
	t.Count = len(t.Rows)
	first = max(first, 1)
	if last <= 0 {
		last = t.Count
	}
	from, to := min(first-1, t.Count), min(last, t.Count)
	t.Rows = t.Rows[from:max(from, to)]
	if len(t.Rows) > 0 {
		t.First = first
	}
	if t.Rows == nil {
		t.Rows = [][]string{}
	}
}

// fit leaves the rows for which there is room, and returns how many it has taken away.
func (t *extractTable) fit(room *int) int {
	for i, row := range t.Rows {
		size := 3 * (len(row) + 1)
		for _, cell := range row {
			size += len(cell)
		}
		if size > *room {
			left := len(t.Rows) - i
			t.Rows, *room = t.Rows[:i], 0
			return left
		}
		*room -= size
	}
	return 0
}

func digest(rows [][]string) string {
	h := sha256.New()
	for _, row := range rows {
		fmt.Fprintf(h, "%q\n", row)
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}

type tableReader struct {
	p     primitives.Page
	slots chan struct{}
	alone bool // what frames show is left out
}

// document reads the tables of one document and then those of its frames. A frame that cannot be read is left out.
func (r *tableReader) document(
	ctx context.Context, frame primitives.FrameID, args map[string]any, nesting int,
) (*documentTables, error) {
	var doc documentTables
	err := withShadows(ctx, r.p, frame, func() (hosts []string, more bool, err error) {
		doc = documentTables{}
		err = r.p.Call(ctx, frame, "page_tables", args, &doc)
		return doc.Hosts, doc.More, err
	})
	if err != nil {
		return nil, err
	}
	if nesting >= locator.MaxFrameDepth || r.alone {
		return &doc, nil
	}
	inner := make([]*documentTables, len(doc.Frames))
	var wg sync.WaitGroup
	for i, handle := range doc.Frames {
		wg.Go(func() { inner[i] = r.child(ctx, frame, handle, args, nesting+1) })
	}
	wg.Wait()
	for _, d := range inner {
		if d == nil {
			continue
		}
		doc.Tables = append(doc.Tables, d.Tables...)
		doc.Stopped = doc.Stopped || d.Stopped
		if doc.Next == nil {
			doc.Next = d.Next
		}
	}
	return &doc, nil
}

func (r *tableReader) child(
	ctx context.Context, parent primitives.FrameID, handle string, given map[string]any, nesting int,
) *documentTables {
	ctx, cancel := context.WithTimeout(ctx, frameAnswer)
	defer cancel()
	frame, err := childFrame(ctx, r.p, r.slots, parent, handle)
	if err != nil {
		return nil
	}
	args := map[string]any{"refs": given["refs"], "links": given["links"], "time_ms": given["time_ms"]}
	doc, err := r.document(ctx, frame, args, nesting)
	if err != nil {
		return nil
	}
	return doc
}

// childFrame is a frame of a document, when a slot is free.
func childFrame(
	ctx context.Context, p primitives.Page, slots chan struct{}, parent primitives.FrameID, handle string,
) (primitives.FrameID, error) {
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { <-slots }()
	return p.ChildFrame(ctx, parent, handle)
}
