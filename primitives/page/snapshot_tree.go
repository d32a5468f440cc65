package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/locator"
)

const (
	// documentWalk bounds how long one document may be walked.
	documentWalk = 10 * time.Second
	// frameAnswer bounds how long a frame is waited for: one that is stuck must
	// not cost the rest of the page.
	frameAnswer = 3 * time.Second
	// openRounds bounds how deep closed shadow roots are searched inside
	// closed shadow roots.
	openRounds = 6
	// sideBySide bounds how many documents are read at the same time.
	sideBySide = 24
	// mostRows bounds what is set aside for rows that were announced.
	mostRows = 1 << 20
)

// treeRow is one row of a snapshot: a line of text without its indent, or an
// object without its depth.
type treeRow struct {
	depth int
	text  []byte
	key   string // its ref, before its text was made compact; "" where nobody has looked
	short []byte // the text with the beginnings of its long texts, nil where it has none
}

// object is the row with its depth.
func (r treeRow) object() json.RawMessage {
	b := make([]byte, 0, len(r.text)+12)
	b = fmt.Appendf(b, `{"depth":%d`, r.depth)
	if rest := bytes.TrimPrefix(r.text, []byte("{")); len(rest) > 1 {
		b = append(b, ',')
		return append(b, rest...)
	}
	return append(b, '}')
}

// outline is rows as indented text.
func outline(rows []treeRow) string {
	size := 0
	for _, r := range rows {
		size += len(r.text) + 2*r.depth + 1
	}
	var b strings.Builder
	b.Grow(size)
	for _, r := range rows {
		for range r.depth {
			b.WriteString("  ")
		}
		b.Write(r.text)
		b.WriteByte('\n')
	}
	return b.String()
}

// missedFrame is a frame whose document did not answer.
type missedFrame struct {
	Ref  string `json:"ref"`
	Code string `json:"code"`
}

// tree has the rows of a document and of the frames in it.
type tree struct {
	rows     []treeRow
	frames   int // documents that answered
	left     int
	unseen   int // elements that were not walked
	stopped  bool
	title    *string // nil for a part of the page
	below    *below  // nil where nothing lies below the viewport, and for a part of the page
	missed   []missedFrame
	messages []string      // shown since the last snapshot, and gone
	doc      *documentRows // of the outermost document
}

// documentRows is the answer of the page library for one document. Its rows
// come as text, a line for each, indented by a space for each step of depth.
type documentRows struct {
	rows   []treeRow
	Count  int `json:"count"`
	Frames []struct {
		Row    int    `json:"row"`
		Handle string `json:"handle"`
		// Within and Nesting are for an element of a document inside this one: the
		// prefix of its refs, and how many frames it lies in.
		Within  string `json:"within"`
		Nesting int    `json:"nesting"`
	} `json:"frames"`
	// Inside counts documents of frames whose rows are among those of this one.
	Inside int `json:"inside"`
	// RefsInside says how far their refs have come.
	RefsInside []struct {
		Prefix string `json:"prefix"`
		Next   int    `json:"next"`
	} `json:"refs_inside"`
	LeftOut int      `json:"left_out"`
	Unseen  int      `json:"unseen"` // elements that were not walked, of this document
	Stopped bool     `json:"stopped"`
	Hosts   []string `json:"hosts"`
	More    bool     `json:"more_hosts"`
	Title   *string  `json:"title"`
	Below   *below   `json:"below"`
	// Messages are texts that were shown since the last snapshot and are gone.
	Messages []string `json:"messages"`

	// Token names the rows of this answer for the next one, and Runs is that one by them: a first row and a number of
	// rows, or -1 and a number of rows that the text has.
	Token string `json:"token"`
	Runs  []int  `json:"runs"`
	base  []treeRow
}

// TakeText implements TextTaker.
func (d *documentRows) TakeText(text []byte) {
	d.rows = make([]treeRow, 0, min(max(d.Count, 0), mostRows))
	if len(d.Runs) == 0 {
		d.takeRows(text, math.MaxInt)
		return
	}
	for i := 0; i+1 < len(d.Runs); i += 2 {
		from, count := d.Runs[i], d.Runs[i+1]
		switch {
		case from < 0:
			text = d.takeRows(text, count)
		case count < 0 || count > len(d.base) || from > len(d.base)-count:
			return // the count of rows says so
		default:
			d.rows = append(d.rows, d.base[from:from+count]...)
		}
	}
}

// takeRows takes at most so many lines and returns the rest.
func (d *documentRows) takeRows(text []byte, most int) []byte {
	for ; len(text) > 0 && most > 0; most-- {
		line := text
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			line, text = text[:end:end], text[end+1:]
		} else {
			text = nil
		}
		depth := 0
		for depth < len(line) && line[depth] == ' ' {
			depth++
		}
		row := treeRow{depth: depth, text: line[depth:]}
		if d.Token != "" {
			row.key = rowRef(row.text) // for this comparison and the ones after it
		}
		d.rows = append(d.rows, row)
	}
	return text
}

// readTree reads the page. base is the answer of its outermost document for an earlier snapshot of the same request, or
// nil: what it has is not sent again.
func readTree(ctx context.Context, p primitives.Page, in pageSnapshotIn, base *documentRows) (*tree, error) {
	args := map[string]any{
		"format":           "text",
		"interactive_only": in.InteractiveOnly,
		"urls":             in.URLs,
		"time_ms":          documentWalk.Milliseconds(),
		"max_nesting":      locator.MaxFrameDepth,
		// Each document may use up the whole of it; what is too much is cut here.
		"max_nodes": in.Offset + in.walkNodes(),
		"max_bytes": in.walkBytes() * (in.Offset + in.walkNodes()) / in.walkNodes(),
	}
	if in.Format == "json" {
		args["format"] = "json"
	}
	if in.reportVisible {
		args["tell_visible"] = true
	}
	if in.Compact {
		args["places"], args["messages"] = true, true
	}
	if in.Siblings {
		args["siblings"] = true
	}
	if in.Hints {
		args["hints"] = true
	}
	if in.Since != "" {
		args["since"] = true
	}
	at, part, err := partOf(ctx, p, in.Ref, in.Locator)
	if err != nil {
		return nil, err
	}
	if len(part) == 0 {
		p.BeginFrames(ctx, at.Frame)
	}
	r := treeReader{p: p, args: args, slots: make(chan struct{}, sideBySide)}
	doc, err := r.document(ctx, at.Frame, part, base)
	if err != nil {
		if in.Ref != "" {
			err = locator.GoneWithFrame(in.Ref, err)
		}
		return nil, err
	}
	out := r.assemble(ctx, at.Frame, doc, 0)
	out.title = doc.Title
	out.below = doc.Below
	out.doc = doc
	if in.Compact && in.Format != "json" {
		out.rows = compact(out.rows)
	}
	return out, nil
}

type treeReader struct {
	p     primitives.Page
	args  map[string]any
	slots chan struct{} // one for each document that is read at the same time
}

// document reads one document, and opens the closed shadow roots that are met.
func (r *treeReader) document(
	ctx context.Context, frame primitives.FrameID, part map[string]any, base *documentRows,
) (*documentRows, error) {
	args := maps.Clone(r.args)
	maps.Copy(args, part)
	doc := base
	err := withShadows(ctx, r.p, frame, func() (hosts []string, more bool, err error) {
		next := &documentRows{}
		if doc != nil && doc.Token != "" {
			args["base"], next.base = doc.Token, doc.rows
		}
		doc = next
		err = r.p.Call(ctx, frame, "page_snapshot", args, doc)
		if err == nil && len(doc.rows) != doc.Count {
			err = fault.New(fault.Internal, "the page library announced %d rows and gave %d", doc.Count, len(doc.rows))
		}
		doc.base = nil
		for _, given := range doc.RefsInside {
			if inner, err := r.p.Refs().Frame(given.Prefix + "e1"); err == nil {
				r.p.Refs().Given(inner, given.Next)
			}
		}
		args["again"] = true // what components report of themselves is queried once
		return doc.Hosts, doc.More, err
	})
	return doc, err
}

// withShadows repeats the page call for as long as the answer names elements that turn out
// to have closed shadow roots: from then on the page library searches them.
func withShadows(
	ctx context.Context, p primitives.Page, frame primitives.FrameID, ask func() (hosts []string, more bool, err error),
) error {
	for range openRounds {
		hosts, more, err := ask()
		if err != nil || len(hosts) == 0 {
			return err
		}
		opened, err := p.OpenShadows(ctx, frame, hosts)
		if err != nil || opened == 0 && !more {
			return err
		}
	}
	_, _, err := ask()
	return err
}

// assemble puts the documents of frames below the rows that show them. They are
// read side by side; one that cannot be read is named and left out.
func (r *treeReader) assemble(ctx context.Context, frame primitives.FrameID, doc *documentRows, nesting int) *tree {
	below := make([]*tree, len(doc.Frames))
	failed := make([]error, len(doc.Frames))
	var wg sync.WaitGroup
	for i, f := range doc.Frames {
		if nesting+f.Nesting >= locator.MaxFrameDepth {
			continue
		}
		wg.Go(func() {
			parent := frame
			if f.Within != "" {
				parent, failed[i] = r.p.Refs().Frame(f.Within + "e1")
				if failed[i] != nil {
					return
				}
			}
			below[i], failed[i] = r.child(ctx, parent, f.Handle, nesting+f.Nesting+1)
		})
	}
	wg.Wait()
	out := &tree{
		rows:     doc.rows,
		frames:   1 + doc.Inside,
		left:     doc.LeftOut,
		unseen:   doc.Unseen,
		stopped:  doc.Stopped,
		messages: doc.Messages,
	}
	if len(doc.Frames) == 0 {
		return out
	}
	out.rows = make([]treeRow, 0, len(doc.rows)+8*len(doc.Frames))
	next := 0
	for i, row := range doc.rows {
		out.rows = append(out.rows, row)
		if next == len(doc.Frames) || doc.Frames[next].Row != i {
			continue
		}
		inner, err := below[next], failed[next]
		next++
		switch {
		case err != nil:
			out.missed = append(out.missed, missedFrame{Ref: rowRef(row.text), Code: string(fault.CodeOf(err))})
		case inner != nil:
			for _, b := range inner.rows {
				b.depth += row.depth + 1
				out.rows = append(out.rows, b)
			}
			out.frames += inner.frames
			out.left += inner.left
			out.stopped = out.stopped || inner.stopped
			out.missed = append(out.missed, inner.missed...)
			out.messages = append(out.messages, inner.messages...)
		}
	}
	return out
}

func (r *treeReader) child(ctx context.Context, parent primitives.FrameID, handle string, nesting int) (*tree, error) {
	ctx, cancel := context.WithTimeout(ctx, frameAnswer)
	defer cancel()
	select {
	case r.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fault.New(fault.Timeout, "the frame did not answer in time")
	}
	frame, err := r.p.ChildFrame(ctx, parent, handle)
	var doc *documentRows
	if err == nil {
		doc, err = r.document(ctx, frame, nil, nil)
	}
	<-r.slots
	if err != nil {
		return nil, err
	}
	return r.assemble(ctx, frame, doc, nesting), nil
}
