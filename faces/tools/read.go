package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

const readInput = `{"type":"object","properties":{` +
	`"format":{"type":"string","enum":["markdown","text","elements"]},"ref":{"type":"string"},` +
	`"links":{"type":"boolean","description":"addresses, not refs"},"offset":{"type":"integer","minimum":0},` +
	`"rows":{"type":"string","pattern":"^[1-9][0-9]*(-([1-9][0-9]*)?)?$",` +
	`"description":"of tables and lists only: 21-40"},` +
	`"columns":{"type":"array","items":{"type":"string"}},` +
	`"filter":{"type":"string","description":"words of rows"},` +
	`"count":{"type":"boolean","description":"only how many rows"},` +
	`"pages":{"type":"integer","minimum":2,"maximum":100,` +
	`"description":"in steps of act: clicks through so many pages"},` +
	tokensProperty + `,` + pageProperty + `,` + sessionProperty + `},"additionalProperties":false}`

type readIn struct {
	where
	Format    string   `json:"format"`
	Ref       string   `json:"ref"`
	Links     bool     `json:"links"`
	MaxTokens int      `json:"max_tokens"`
	Offset    int      `json:"offset"`
	Rows      string   `json:"rows"`
	Columns   []string `json:"columns"`
	Filter    string   `json:"filter"`
	Count     bool     `json:"count"`
	Pages     int      `json:"pages"`
}

// rowsOnly: the call is about rows of tables and lists.
func (in readIn) rowsOnly() bool {
	return in.Rows != "" || len(in.Columns) > 0 || in.Filter != "" || in.Count || in.Pages > 1
}

// readTool gives the content of a page without its navigation.
func (s *Set) readTool() Tool {
	return newTool(
		"read", "Page content",
		"Content of a page, or of one element, as Markdown with refs of what can be acted on, as text, or a list of "+
			"elements; or rows of its tables and lists.", readInput, pageResult,
		true,
		func(ctx context.Context, c *Call) (*Answer, *fault.Error) {
			var in readIn
			if err := c.Decode(&in); err != nil {
				return nil, err
			}
			if in.Offset > 0 && in.Format == "elements" {
				return nil, invalid("offset", "a list of elements has no offset; give the ref of a part")
			}
			if in.Format == "" {
				in.Format = "markdown"
			}
			if in.Pages > 1 && !c.step { // this tool leaves the page as it is
				return nil, invalid("pages", "to turn pages is an act: act with steps [{read: {pages: %d}}]", in.Pages)
			}
			if in.rowsOnly() && in.Format == "elements" {
				return nil, invalid("format", "rows are Markdown or text")
			}
			return c.on(ctx, in.where, func(p page) (*Answer, *fault.Error) {
				if in.rowsOnly() {
					return c.readRows(ctx, p, in)
				}
				return c.readContent(ctx, p, in)
			})
		},
	)
}

// readContent is the content of a page in one of its formats.
func (c *Call) readContent(ctx context.Context, p page, in readIn) (*Answer, *fault.Error) {
	args := map[string]any{
		"formats":    []string{in.Format},
		"links":      in.Links,
		"refs":       in.Format == "markdown",
		"main_first": true,
	}
	set(args, "ref", in.Ref)
	if in.Offset > 0 {
		args["offset"] = in.Offset
	}
	return fit(ctx, in.MaxTokens, func(maxBytes int) (*Answer, bool, *fault.Error) {
		args["max_bytes"] = maxBytes
		if in.Format == "elements" {
			args["max_elements"] = max(maxBytes/150, 5)
		}
		value, r, err := c.do(ctx, p, "page.extract", args, in.where)
		if err != nil {
			return nil, false, err
		}
		result := about(p, r, value)
		delete(result, "content") // how the content was found is no matter of a reader
		truncated, cut := result["truncated"].(map[string]any)
		if in.Format == "elements" {
			text, _ := json.Marshal(result)
			return &Answer{Result: result, Text: labelled(p, r.URL, c.set.Mark(), string(text))}, cut, nil
		}
		if cut {
			delete(result, "truncated")
			result["left"] = leftOf(truncated[in.Format])
		}
		return c.set.textual(p, result, r.URL, in.Format), cut, nil
	})
}

// leftOf says how much of a text is left, and where it goes on.
func leftOf(cut any) any {
	var left struct {
		Left, Offset int
		Next         string
	}
	encoded, _ := json.Marshal(cut)
	_ = json.Unmarshal(encoded, &left)
	if left.Offset == 0 {
		return left.Next
	}
	return map[string]any{"bytes": left.Left, "offset": left.Offset}
}

// readTable is a table as page.extract gives it, with the rows of further pages.
type readTable struct {
	Ref     string
	Kind    string
	Columns []string
	Rows    [][]string
	Count   int
	Of      int
	Digest  string
}

// readPage is one page of rows.
type readPage struct {
	Tables []readTable
	Next   struct {
		Ref, Name string
		Last      bool
	} `json:"next_page"`
	Truncated map[string]struct{ Left int }
}

// rowRange reads rows: "21-40", "21" or "21-".
func rowRange(rows string) (first, last int) {
	from, to, ranged := strings.Cut(rows, "-")
	first, _ = strconv.Atoi(from)
	last, _ = strconv.Atoi(to)
	if !ranged {
		last = first
	}
	return max(first, 1), last
}

// readRows are rows of the tables and lists of a page, and of its further pages where the call asks for them.
func (c *Call) readRows(ctx context.Context, p page, in readIn) (*Answer, *fault.Error) {
	args := map[string]any{
		"formats": []string{"tables"}, "max_bytes": mostBytes, "links": in.Links, "refs": in.Format == "markdown",
	}
	set(args, "ref", in.Ref)
	set(args, "filter", in.Filter)
	if len(in.Columns) > 0 {
		args["columns"] = in.Columns
	}
	first, r, err := c.rowsHere(ctx, p, in, args)
	if err != nil {
		return nil, err
	}
	tables := first.Tables
	said := ""
	if in.Pages > 1 {
		tables, said, err = c.furtherPages(ctx, p, in, args, first)
		if err != nil {
			return nil, err
		}
	}
	result := inBrief(map[string]any{"page": p.handle(), "url": p.tab.URL})
	if r.URL != "" {
		result["url"] = cutLine(r.URL, mostAddress)
	}
	if said != "" {
		result["pages"] = said
	}
	text, left := in.written(tables)
	if left != "" {
		result["left"] = left
	}
	if text == "" {
		text = "no rows"
	}
	result["text"] = text
	return c.set.textual(p, result, r.URL, "text"), nil
}

func (c *Call) rowsHere(ctx context.Context, p page, in readIn, args any) (readPage, runtime.Reply, *fault.Error) {
	var out readPage
	value, r, err := c.do(ctx, p, "page.extract", args, in.where)
	if err != nil {
		return out, r, err
	}
	if e := json.Unmarshal(value, &out); e != nil {
		return out, r, fault.Wrap(fault.InvalidResult, e, "reading the rows of the page")
	}
	// Lists with nothing that was asked for say nothing.
	out.Tables = slices.DeleteFunc(out.Tables, func(t readTable) bool {
		return t.Count == 0 && (in.Filter != "" || t.Kind == "list")
	})
	return out, r, nil
}

// rowsTime bounds the wait for the rows of the next page.
const rowsTime = 5000

// furtherPages clicks through a pager and adds the rows of each page to those of the first. It says how far it came.
// A click that changes no row is not repeated.
func (c *Call) furtherPages(
	ctx context.Context, p page, in readIn, args map[string]any, now readPage,
) ([]readTable, string, *fault.Error) {
	main := mainTable(now.Tables)
	if len(main) == 0 {
		return nil, "", fault.New(fault.TargetNotFound, "no table or list has these rows, so no page was turned")
	}
	all := main[0]
	for read := 1; ; read++ {
		switch {
		case now.Next.Last || now.Next.Ref == "" && read > 1:
			return []readTable{all}, turned(read) + ", the last one too", nil
		case now.Next.Ref == "":
			return []readTable{all}, "the page has no control that leads to a next page", nil
		case read == in.Pages:
			return []readTable{all}, turned(read) + "; there are more", nil
		}
		click := map[string]any{"ref": now.Next.Ref, "effects": actEffects}
		if _, _, err := c.do(ctx, p, "pointer.click", click, in.where); err != nil {
			return nil, "", err.With("pages_read", read)
		}
		c.noteAct(p)
		next, err := c.otherRows(ctx, p, in, args, all.Digest)
		if err != nil {
			return nil, "", err.With("pages_read", read)
		}
		more := mainTable(next.Tables)
		if len(more) == 0 || more[0].Digest == all.Digest {
			clicked := quote(now.Next.Name, 40)
			return []readTable{all}, turned(read) + "; a click on " + clicked + " brought no other rows", nil
		}
		all.Rows, all.Digest = append(all.Rows, more[0].Rows...), more[0].Digest
		all.Count += more[0].Count
		now = next
	}
}

// turned says how many pages were read.
func turned(pages int) string {
	if pages == 1 {
		return "1 page was read"
	}
	return fmt.Sprintf("%d pages were read", pages)
}

// mainTable is the longest table of a page, or else its longest list.
func mainTable(tables []readTable) []readTable {
	sorted := slices.Clone(tables)
	slices.SortStableFunc(sorted, func(a, b readTable) int {
		if a.Kind != b.Kind {
			return strings.Compare(b.Kind, a.Kind)
		}
		return b.Count - a.Count
	})
	return sorted[:min(len(sorted), 1)]
}

// otherRows reads the page until its rows are others than before a click, or until its time is over.
func (c *Call) otherRows(
	ctx context.Context, p page, in readIn, args map[string]any, before string,
) (readPage, *fault.Error) {
	delete(args, "ref") // of the document before
	for try := 0; ; try++ {
		now, _, err := c.rowsHere(ctx, p, in, args)
		if err != nil && err.Code != fault.TargetNotFound {
			return now, err
		}
		main := mainTable(now.Tables)
		if len(main) > 0 && main[0].Digest != before || try == 2 {
			return now, nil
		}
		wait := map[string]any{
			"conditions": []map[string]any{
				{"load": "load"}, {"network_idle_ms": quietFor.Milliseconds() * int64(try+1)},
			},
			"timeout_ms": rowsTime,
		}
		if _, _, err := c.do(ctx, p, "page.wait", wait, where{TimeoutMS: rowsTime}); err != nil &&
			err.Code != fault.Timeout {
			return now, err
		}
	}
}

// written are tables in the form of the call, as far as its tokens go, and what is left of them.
func (in readIn) written(tables []readTable) (text, left string) {
	first, last := 1, 0
	if in.Rows != "" {
		first, last = rowRange(in.Rows)
	}
	most := in.MaxTokens
	if most == 0 {
		most = defaultTokens
	}
	most -= 120 // what stands around the rows
	for i, t := range tables {
		line := t.counted()
		to := len(t.Rows)
		if last > 0 {
			to = min(last, to)
		}
		if in.Count {
			text += line + "\n"
			continue
		}
		if len(tables) > 1 || first > 1 || to < len(t.Rows) || t.Of > t.Count {
			text += line + "\n"
		}
		head := t.head(in.Format)
		used := EstimateTokens(text + head)
		text += head
		for at := first - 1; at < to; at++ {
			row := rowLine(t.Rows[at], max(len(t.Columns), 1), in.Format, t.Kind)
			used += EstimateTokens(row)
			if used > most && at > first-1 {
				return text, fmt.Sprintf("%s: rows %d-%d are not shown", t.name(), at+1, to)
			}
			text += row
		}
		most -= used
		if most <= 0 && i+1 < len(tables) {
			return text, fmt.Sprintf("%d more tables and lists", len(tables)-i-1)
		}
		text += "\n"
	}
	return strings.TrimRight(text, "\n"), ""
}

func (t readTable) name() string { return t.Kind + " " + t.Ref }

// counted says how many rows there are.
func (t readTable) counted() string {
	line := fmt.Sprintf("%s: %d rows", t.name(), t.Count)
	if t.Count == 1 {
		line = t.name() + ": 1 row"
	}
	if t.Of > t.Count {
		line += fmt.Sprintf(" of %d are drawn", t.Of)
	}
	return line
}

// controlsIn are the marks of what can be acted on, in the head of a table.
var controlsIn = regexp.MustCompile(`\[([^\]]*)\]\[[^\]]*\]`)

// head is the line of the columns, and what goes with it.
func (t readTable) head(format string) string {
	width := len(t.Columns)
	for _, row := range t.Rows {
		width = max(width, len(row))
	}
	switch {
	case t.Kind == "list":
		return ""
	case format == "text":
		if len(t.Columns) == 0 {
			return ""
		}
		return rowLine(t.Columns, width, format, t.Kind)
	}
	return rowLine(t.Columns, width, format, t.Kind) + "|" + strings.Repeat(" --- |", width) + "\n"
}

// rowLine is a row as a line.
func rowLine(row []string, width int, format, kind string) string {
	if format == "text" {
		plain := make([]string, len(row))
		for i, cell := range row {
			plain[i] = unmarked.Replace(controlsIn.ReplaceAllString(cell, "$1"))
		}
		return strings.TrimRight(strings.Join(plain, "\t"), "\t") + "\n"
	}
	if kind == "list" {
		return "- " + strings.Join(row, " ") + "\n"
	}
	cells := slices.Clone(row)
	for len(cells) < width {
		cells = append(cells, "")
	}
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(cell, "|", `\|`)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// unmarked takes the marks of Markdown out of a cell.
var unmarked = strings.NewReplacer(`\`, "", "**", "", "~~", "", "`", "")
