package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/locator"
)

type pageExtractIn struct {
	Formats     []string         `json:"formats"`
	Ref         string           `json:"ref"`
	Locator     *locator.Locator `json:"locator"`
	Whole       bool             `json:"whole"`
	Links       *bool            `json:"links"`
	Images      bool             `json:"images"`
	Refs        bool             `json:"refs"`
	MainFirst   bool             `json:"main_first"`
	Frames      *bool            `json:"frames"`
	MaxBytes    *int             `json:"max_bytes"`
	Offset      int              `json:"offset"`
	MaxElements *int             `json:"max_elements"`
	Columns     []string         `json:"columns"`
	Filter      string           `json:"filter"`
	FirstRow    int              `json:"first_row"`
	LastRow     int              `json:"last_row"`
}

type pageExtractOut struct {
	URL      string            `json:"url"`
	Title    string            `json:"title"`
	Content  string            `json:"content,omitempty"` // how the content was found
	Text     *string           `json:"text,omitempty"`
	Markdown *string           `json:"markdown,omitempty"`
	Elements []json.RawMessage `json:"elements,omitzero"`
	Tables   []extractTable    `json:"tables,omitzero"`
	NextPage *nextPage         `json:"next_page,omitempty"`
	// Truncated has an entry for each format that does not fit.
	Truncated map[string]extractCut `json:"truncated,omitempty"`
}

// extractCut says what is missing of a format and how to get it.
type extractCut struct {
	Left   int    `json:"left"` // bytes of text, or elements; at least
	Offset int    `json:"offset,omitempty"`
	Next   string `json:"next"`
}

const (
	defaultExtractBytes    = 50_000
	defaultExtractElements = 200
)

// pageExtract reads what a page says: as text, as Markdown of its content, and
// as the list of what can be used on it.
var pageExtract = primitives.Define("page.extract", func(
	ctx context.Context, p primitives.Page, in pageExtractIn,
) (pageExtractOut, error) {
	if len(in.Formats) == 0 {
		in.Formats = []string{"markdown"}
	}
	out := pageExtractOut{}
	for _, format := range []string{"markdown", "text"} {
		if !slices.Contains(in.Formats, format) {
			continue
		}
		text, err := in.read(ctx, p, format)
		if err != nil {
			return pageExtractOut{}, err
		}
		shown, cut := in.cut(text)
		if cut != nil {
			out.truncate(format, *cut)
		}
		if format == "text" {
			out.Text = &shown
		} else {
			out.Markdown, out.Content = &shown, text.why
		}
	}
	if slices.Contains(in.Formats, "elements") {
		if err := in.elements(ctx, p, &out); err != nil {
			return pageExtractOut{}, err
		}
	}
	if slices.Contains(in.Formats, "tables") {
		if err := in.tables(ctx, p, &out); err != nil {
			return pageExtractOut{}, err
		}
	}
	tab := p.Tab()
	var now struct{ URL, Title string }
	if err := p.Call(ctx, "", "page_info", nil, &now); err != nil {
		return pageExtractOut{}, err
	}
	out.URL, out.Title = now.URL, now.Title
	if out.URL == "" {
		out.URL = tab.URL
	}
	return out, nil
})

func (o *pageExtractOut) truncate(format string, cut extractCut) {
	if o.Truncated == nil {
		o.Truncated = map[string]extractCut{}
	}
	o.Truncated[format] = cut
}

func (in *pageExtractIn) maxBytes() int {
	if in.MaxBytes != nil {
		return *in.MaxBytes
	}
	return defaultExtractBytes
}

// cut takes what max_bytes lets through from offset on, whole lines when there
// are any. The head of a table whose rows are cut is repeated by the next
// part.
func (in *pageExtractIn) cut(t *pageText) (string, *extractCut) {
	rest := t.text
	if in.Offset >= len(rest) {
		rest = ""
	} else if in.Offset > 0 {
		from := in.Offset
		for from < len(rest) && !utf8.RuneStart(rest[from]) {
			from++
		}
		rest = rest[from:]
	}
	head := ""
	if in.Offset > 0 && strings.HasPrefix(rest, "| ") && in.Offset < len(t.text) {
		head = tableHead(t.text[:in.Offset])
	}
	most := max(in.maxBytes()-len(head), 1)
	if len(rest) <= most && t.left == 0 {
		if t.stopped {
			return head + rest, &extractCut{
				Left: 1,
				Next: "the page took too long to read: ask with the ref or locator of a part",
			}
		}
		return head + rest, nil
	}
	shown := rest
	if len(rest) > most {
		end := most
		for end > 0 && !utf8.RuneStart(rest[end]) {
			end--
		}
		shown = rest[:end]
		if i := strings.LastIndexByte(shown, '\n'); i > len(shown)/2 {
			shown = shown[:i+1]
		}
	}
	next := in.Offset + len(shown)
	return head + shown, &extractCut{
		Left: len(rest) - len(shown) + t.left, Offset: next,
		Next: fmt.Sprintf("ask again with offset %d for what follows, or with the ref of a part", next),
	}
}

// tableHead is the head of the table in which text ends, "" when it ends
// outside of one.
func tableHead(text string) string {
	i := strings.LastIndex(text, "\n\n")
	table := strings.TrimLeft(text[i+1:], "\n")
	if !strings.HasPrefix(table, "| ") {
		return ""
	}
	lines := strings.SplitN(table, "\n", 3)
	if len(lines) < 3 || !strings.HasPrefix(lines[1], "| ---") {
		return ""
	}
	return lines[0] + "\n" + lines[1] + "\n"
}

// pageText is the text of the documents of a page.
type pageText struct {
	text string
	why  string
	left int // characters that were not even sent
	// stopped: the document took too long to read, and what follows was not looked at.
	stopped bool
}

// documentText is the answer of the page library for one document.
type documentText struct {
	Pieces []struct {
		Text  string `json:"text"`
		Frame string `json:"frame"`
	} `json:"pieces"`
	Why     string   `json:"why"`
	Left    int      `json:"left"`
	Stopped bool     `json:"stopped"`
	Hosts   []string `json:"hosts"`
	More    bool     `json:"more_hosts"`
}

func (in *pageExtractIn) read(ctx context.Context, p primitives.Page, format string) (*pageText, error) {
	args := map[string]any{
		"format": format, "whole": in.Whole, "links": in.Links == nil || *in.Links, "images": in.Images,
		"refs": in.Refs, "main_first": in.MainFirst,
		// More than is shown, so that the cut can fall between lines.
		"max_chars": in.Offset + in.maxBytes() + 4096, "time_ms": documentWalk.Milliseconds(),
	}
	at, part, err := partOf(ctx, p, in.Ref, in.Locator)
	if err != nil {
		return nil, err
	}
	maps.Copy(args, part)
	r := textReader{p: p, args: args, slots: make(chan struct{}, sideBySide), alone: in.Frames != nil && !*in.Frames}
	out, err := r.document(ctx, at.Frame, args, 0)
	if err != nil && in.Ref != "" {
		err = locator.GoneWithFrame(in.Ref, err)
	}
	return out, err
}

// partOf is the document and the arguments of a page call about a part of the
// page: that of a ref, that of a locator, or the whole of it.
func partOf(
	ctx context.Context, p primitives.Page, ref string, loc *locator.Locator,
) (locator.Place, map[string]any, error) {
	part := map[string]any{}
	var at locator.Place
	var err error
	switch {
	case ref != "":
		at, err = locator.PlaceOfRef(ctx, p, ref)
		part["ref"] = ref
	case loc != nil:
		at, err = loc.Enter(ctx, p)
		part["locator"] = loc
		if at.View != nil {
			part["view"] = at.View
		}
	}
	return at, part, err
}

type textReader struct {
	p     primitives.Page
	args  map[string]any
	slots chan struct{}
	alone bool // what frames show is left out
}

// document reads one document and puts those of its frames where they stand. A
// frame that cannot be read is left out.
func (r *textReader) document(
	ctx context.Context, frame primitives.FrameID, args map[string]any, nesting int,
) (*pageText, error) {
	var doc documentText
	err := withShadows(ctx, r.p, frame, func() (hosts []string, more bool, err error) {
		doc = documentText{}
		err = r.p.Call(ctx, frame, "page_text", args, &doc)
		return doc.Hosts, doc.More, err
	})
	if err != nil {
		return nil, err
	}
	inner := make([]*pageText, len(doc.Pieces))
	if nesting < locator.MaxFrameDepth && !r.alone {
		var wg sync.WaitGroup
		for i, piece := range doc.Pieces {
			if piece.Frame != "" {
				wg.Go(func() { inner[i] = r.child(ctx, frame, piece.Frame, nesting+1) })
			}
		}
		wg.Wait()
	}
	out := &pageText{why: doc.Why, left: doc.Left, stopped: doc.Stopped}
	var b strings.Builder
	for i, piece := range doc.Pieces {
		switch {
		case piece.Frame == "" && r.alone && strings.HasSuffix(b.String(), "\n"):
			b.WriteString(strings.TrimLeft(piece.Text, "\n")) // a frame that is left out leaves no gap
		case piece.Frame == "":
			b.WriteString(piece.Text)
		case inner[i] != nil:
			b.WriteString(inner[i].text)
			out.left += inner[i].left
			out.stopped = out.stopped || inner[i].stopped
		}
	}
	out.text = b.String()
	if r.alone { // what stood before a frame that ends the page
		out.text = strings.TrimRight(out.text, "\n")
	}
	return out, nil
}

func (r *textReader) child(ctx context.Context, parent primitives.FrameID, handle string, nesting int) *pageText {
	ctx, cancel := context.WithTimeout(ctx, frameAnswer)
	defer cancel()
	frame, err := childFrame(ctx, r.p, r.slots, parent, handle)
	if err != nil {
		return nil
	}
	args := map[string]any{}
	for _, k := range []string{"format", "links", "images", "refs", "max_chars", "time_ms"} {
		args[k] = r.args[k]
	}
	args["whole"] = true
	out, err := r.document(ctx, frame, args, nesting)
	if err != nil {
		return nil
	}
	return out
}

func (in *pageExtractIn) elements(ctx context.Context, p primitives.Page, out *pageExtractOut) error {
	most := defaultExtractElements
	if in.MaxElements != nil {
		most = *in.MaxElements
	}
	nodes, size := most+1000, 8_000_000 // rows of frames and options take room too
	tree, err := readTree(ctx, p, pageSnapshotIn{
		Ref:             in.Ref,
		Locator:         in.Locator,
		Format:          "json",
		InteractiveOnly: true,
		MaxNodes:        &nodes,
		MaxBytes:        &size,
		reportVisible:   true,
	}, nil)
	if err != nil {
		return err
	}
	out.Elements = []json.RawMessage{}
	left := tree.left
	for _, row := range tree.rows {
		if bytes.HasPrefix(row.text, []byte(`{"role":"iframe"`)) {
			continue
		}
		if len(out.Elements) == most {
			left++
			continue
		}
		out.Elements = append(out.Elements, json.RawMessage(row.text))
	}
	if left > 0 {
		out.truncate("elements", extractCut{
			Left: left,
			Next: "ask again with a larger max_elements, or with the ref or locator of a part",
		})
	}
	return nil
}
