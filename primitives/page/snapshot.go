package page

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/locator"
)

type pageSnapshotIn struct {
	Ref             string           `json:"ref"`
	Locator         *locator.Locator `json:"locator"`
	Format          string           `json:"format"`
	InteractiveOnly bool             `json:"interactive_only"`
	URLs            bool             `json:"urls"`
	Compact         bool             `json:"compact"`
	Brief           bool             `json:"brief"`
	Siblings        bool             `json:"siblings"`
	Hints           bool             `json:"hints"`
	MaxNodes        *int             `json:"max_nodes"`
	MaxBytes        *int             `json:"max_bytes"`
	Offset          int              `json:"offset"`
	Since           string           `json:"since"`

	reportVisible bool // for page.extract
}

type pageSnapshotOut struct {
	ID        string            `json:"snapshot_id"`
	URL       string            `json:"url"`
	Title     string            `json:"title"`
	NodeCount int               `json:"node_count"`
	Frames    int               `json:"frame_count"`
	Text      *string           `json:"text,omitempty"`
	Nodes     []json.RawMessage `json:"nodes,omitzero"`
	Delta     *snapshotDelta    `json:"delta,omitempty"`
	Truncated bool              `json:"truncated"`
	Brief     bool              `json:"brief,omitempty"`
	LeftOut   *snapshotLeftOut  `json:"left_out,omitempty"`
	Below     *below            `json:"below,omitempty"`
	Missed    []missedFrame     `json:"missed_frames,omitempty"`
	Messages  []string          `json:"messages,omitempty"`
}

// below says how much of the page lies below the viewport, and from which element on.
type below struct {
	Pixels int    `json:"px"`
	From   string `json:"from,omitempty"`
}

// snapshotLeftOut says what is missing and how to get it.
type snapshotLeftOut struct {
	Nodes int `json:"nodes"` // at least
	// Elements are those of the document that come after what was read.
	Elements int `json:"elements,omitempty"`

	Because string `json:"because"`
	Next    string `json:"next"`
	Offset  int    `json:"offset"`
}

// mostMessages bounds the messages of one snapshot; the page library keeps to three a document.
const mostMessages = 5

const defaultSnapshotNodes, defaultSnapshotBytes = 3000, 200_000

// pageSnapshot walks the page in the page: one round trip for the document and those of
// its origin in it, and one for each other, the frames of one side by side. A document
// that was never called needs one of its own.
var pageSnapshot = primitives.Define("page.snapshot", func(
	ctx context.Context, p primitives.Page, in pageSnapshotIn,
) (pageSnapshotOut, error) {
	var then *keptSnapshot
	var base *documentRows
	if in.Since != "" {
		var err error
		then, err = earlierSnapshot(p.Refs(), in.Since, in.about())
		if err != nil {
			return pageSnapshotOut{}, err
		}
		base = then.doc
	} else if in.InteractiveOnly {
		base = newestAnswer(p.Refs(), in.about())
	}
	tree, err := readTree(ctx, p, in, base)
	if err != nil {
		return pageSnapshotOut{}, err
	}
	tab := p.Tab()
	out := pageSnapshotOut{
		URL:      tab.URL,
		Title:    tab.Title,
		Frames:   tree.frames,
		Below:    tree.below,
		Missed:   tree.missed,
		Messages: tree.messages[:min(mostMessages, len(tree.messages))],
	}
	if tree.title != nil {
		out.Title = *tree.title
	}
	whole := tree.rows[min(in.Offset, len(tree.rows)):]
	rows, left := in.cut(whole)
	if in.Since != "" {
		rows, left = whole, 0 // what is reported of them is cut
	}
	left += tree.left
	if left > 0 {
		out.Truncated = true
		out.LeftOut = in.leftOut(len(rows), left, tree.stopped)
		out.LeftOut.Elements = tree.unseen
	}
	out.NodeCount = len(rows)
	kept := &keptSnapshot{
		about:   in.about(),
		rows:    whole,
		partial: tree.left > 0,
		doc:     tree.doc,
		url:     tab.URL,
		title:   out.Title,
		whole:   in.Ref == "" && in.Locator == nil && !in.InteractiveOnly,
	}
	out.ID = p.Refs().Keep(kept)
	switch {
	case then != nil:
		out.Delta = compareSnapshots(in.Since, then, kept, in.maxBytes(), in.briefly())
		out.Brief = out.Delta.brief
		if n := out.Delta.omitted; n > 0 {
			out.Truncated = true
			out.LeftOut = &snapshotLeftOut{
				Nodes:   n,
				Because: "max_bytes",
				Next:    "take a snapshot without since, or one of the ref of a row",
				Offset:  in.Offset,
			}
		}
	case in.Format == "json":
		out.Nodes = make([]json.RawMessage, len(rows))
		for i, r := range rows {
			out.Nodes[i] = r.object()
		}
	default:
		if in.briefly() {
			rows, out.Brief = briefOf(rows).rows(rows)
		}
		text := outline(rows)
		out.Text = &text
	}
	return out, nil
})

func (in *pageSnapshotIn) maxNodes() int {
	if in.MaxNodes != nil {
		return *in.MaxNodes
	}
	return defaultSnapshotNodes
}

func (in *pageSnapshotIn) maxBytes() int {
	if in.MaxBytes != nil {
		return *in.MaxBytes
	}
	return defaultSnapshotBytes
}

// walkNodes and walkBytes are how much is read of the page, which may be more
// than is reported: a later snapshot is compared with it.
func (in *pageSnapshotIn) walkNodes() int { return max(in.maxNodes(), defaultSnapshotNodes) }

func (in *pageSnapshotIn) walkBytes() int { return max(in.maxBytes(), defaultSnapshotBytes) }

// about names the request that a snapshot answers: only answers to the same
// one can be compared.
func (in *pageSnapshotIn) about() string {
	var loc []byte
	if in.Locator != nil {
		loc = in.Locator.Raw
	}
	return fmt.Sprintf(
		"%s|%s|%t|%t|%t|%t|%t|%t|%d",
		in.Ref, loc, in.InteractiveOnly, in.URLs, in.Compact, in.Siblings, in.Hints, in.Format == "json", in.Offset,
	)
}

// briefly reports whether the answer is a brief outline.
func (in *pageSnapshotIn) briefly() bool {
	return in.Brief && in.Compact && !in.InteractiveOnly && in.Format != "json" && in.Offset == 0
}

// cut keeps the rows that the limits of nodes and bytes let through, at least
// one.
func (in *pageSnapshotIn) cut(rows []treeRow) (kept []treeRow, left int) {
	size, most := 0, in.maxBytes()
	for i, r := range rows {
		size += len(r.text) + 2*r.depth + 1
		if i == in.maxNodes() || size > most && i > 0 {
			return rows[:i], len(rows) - i
		}
	}
	return rows, 0
}

func (in *pageSnapshotIn) leftOut(shown, left int, stopped bool) *snapshotLeftOut {
	out := &snapshotLeftOut{Nodes: left, Because: "max_nodes", Offset: in.Offset + shown}
	switch {
	case stopped:
		out.Because = "time"
	case shown < in.maxNodes():
		out.Because = "max_bytes"
	}
	out.Next = fmt.Sprintf("ask again with offset %d, with the ref of a row, or with interactive_only", out.Offset)
	return out
}
