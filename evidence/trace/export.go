package trace

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"strconv"

	"github.com/outrider-run/outrider/evidence/outfile"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/primitives/fault"
)

// formatVersion is that of Playwright's traces.
const formatVersion = 8

// zero is the time of the beginning on the clock of a trace, in milliseconds.
const zero = 1000.0

// ExportFile exports the recording at from to the zip at to, which is there only when it is whole.
// It ends with ctx.
func ExportFile(ctx context.Context, from, to string) error {
	r, err := record.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	err = outfile.Fill(to, 0o644, func(to io.Writer) error { return Export(ctx, r, to) })
	if err != nil {
		return fmt.Errorf("writing the trace %s: %w", to, err)
	}
	return nil
}

// Export writes a recording as a trace. It ends with ctx.
func Export(ctx context.Context, r *record.Recording, to io.Writer) error {
	e := &export{
		live:   func() error { return context.Cause(ctx) },
		from:   r,
		calls:  record.Calls(r.Events),
		stored: map[string]string{},
		pages:  map[int]bool{},
		frames: map[string]int{},
	}
	e.zip = zip.NewWriter(to)
	e.index()
	e.begin()
	for _, ev := range r.Events {
		if err := e.live(); err != nil {
			return err
		}
		e.event(ev)
	}
	if err := e.live(); err != nil {
		return err
	}
	e.unfinished()
	e.file("trace.trace", e.trace.Bytes())
	e.file("trace.network", e.network.Bytes())
	if closing := e.zip.Close(); e.err == nil {
		e.err = closing
	}
	return e.err
}

// export is one trace on its way.
type export struct {
	live    func() error // why nobody wants it any more, nil while somebody does
	from    *record.Recording
	calls   []record.Call
	byID    map[string]*record.Call
	rows    map[string]*row // of steps, by their id
	open    map[string]bool // rows without an end
	groups  map[string][]*group
	zip     *zip.Writer
	trace   bytes.Buffer
	network bytes.Buffer
	stored  map[string]string // entries of the zip, by resource
	pages   map[int]bool
	frames  map[string]int
	last    float64
	err     error
}

func (e *export) line(to *bytes.Buffer, v map[string]any) {
	b, err := json.Marshal(v)
	if err != nil {
		e.fail(err)
		return
	}
	to.Write(append(b, '\n'))
}

func (e *export) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

func (e *export) file(name string, data []byte) {
	e.entry(name, func(to io.Writer) error {
		_, err := to.Write(data)
		return err
	})
}

// entry adds an entry of the zip, which fill writes.
func (e *export) entry(name string, fill func(to io.Writer) error) {
	method := zip.Deflate
	switch filepath.Ext(name) {
	case ".jpeg", ".jpg", ".png", ".webp", ".gif", ".woff2": // compressed already
		method = zip.Store
	}
	w, err := e.zip.CreateHeader(&zip.FileHeader{Name: name, Method: method})
	if err == nil {
		err = fill(w)
	}
	if err != nil {
		e.fail(err)
	}
}

// wanted writes for as long as somebody wants what is written: a resource takes seconds.
type wanted struct {
	to   io.Writer
	live func() error
}

func (w wanted) Write(b []byte) (int, error) {
	if err := w.live(); err != nil {
		return 0, err
	}
	return w.to.Write(b)
}

// resource stores a resource under a name that the viewer takes for its kind.
func (e *export) resource(name, extension string) string {
	if e.stored[name] != "" {
		return e.stored[name]
	}
	if !e.from.Has(name) || path.Base(name) != name { // an entry of that name would lead out of a folder
		return ""
	}
	entry := name + "." + extension
	e.stored[name] = entry
	e.entry("resources/"+entry, func(to io.Writer) error {
		err := e.from.CopyTo(wanted{to, e.live}, name)
		if fault.CodeOf(err) == fault.InvalidInput && e.live() == nil {
			return nil // a damaged one costs itself alone
		}
		return err
	})
	return entry
}

func (e *export) wall(t float64) float64 {
	return float64(e.from.Header.Started.UnixMicro())/1000 + t
}

func (e *export) begin() {
	h := e.from.Header
	options := map[string]any{}
	if h.Viewport != nil {
		options["viewport"] = h.Viewport
	}
	title := h.Verb
	if title == "" {
		title = h.Program
	}
	e.line(&e.trace, map[string]any{
		"type":          "context-options",
		"version":       formatVersion,
		"origin":        "library",
		"contextId":     "context@1",
		"browserName":   "chromium",
		"platform":      "linux",
		"wallTime":      e.wall(0),
		"monotonicTime": zero,
		"title":         title,
		"sdkLanguage":   "javascript",
		"options":       options,
	})
}

func page(tab int) string { return "page@" + strconv.Itoa(tab) }

func (e *export) event(ev record.Event) {
	e.last = max(e.last, ev.T)
	if ev.Tab != 0 && !e.pages[ev.Tab] {
		e.pages[ev.Tab] = true
		e.line(&e.trace, map[string]any{
			"type":   "event",
			"time":   zero + ev.T,
			"class":  "BrowserContext",
			"method": "page",
			"params": map[string]any{"pageId": page(ev.Tab)},
		})
	}
	switch ev.Kind {
	case record.KindCallBegin:
		if b, err := record.Of[record.CallBegin](ev); err == nil && e.byID[b.ID] != nil {
			e.beginCall(ev, e.byID[b.ID])
		}
	case record.KindCallEnd:
		if end, err := record.Of[record.CallEnd](ev); err == nil && e.byID[end.ID] != nil {
			e.endCall(ev, e.byID[end.ID])
		}
	case record.KindStepBegin:
		if b, err := record.Of[record.StepBegin](ev); err == nil && e.rows[b.ID] != nil {
			e.beginStep(ev, e.rows[b.ID])
		}
	case record.KindStepEnd:
		if end, err := record.Of[record.StepEnd](ev); err == nil && e.rows[end.ID] != nil {
			e.endStep(ev, e.rows[end.ID], end)
		}
	case record.KindSnapshot:
		if s, err := record.Of[record.Snapshot](ev); err == nil && e.rows[s.Step] != nil {
			e.snapshot(ev, e.rows[s.Step], s)
		}
	case record.KindPicture:
		if p, err := record.Of[record.Picture](ev); err == nil {
			if entry := e.resource(p.Resource, "jpeg"); entry != "" {
				e.line(&e.trace, map[string]any{
					"type":      "screencast-frame",
					"pageId":    page(ev.Tab),
					"sha1":      entry,
					"width":     p.Size.Width,
					"height":    p.Size.Height,
					"timestamp": zero + ev.T,
				})
			}
		}
	case record.KindConsole:
		if c, err := record.Of[record.Console](ev); err == nil {
			e.console(ev, c)
		}
	case record.KindRequest:
		if q, err := record.Of[record.Request](ev); err == nil {
			e.request(ev, q)
		}
	case record.KindDialog:
		if d, err := record.Of[record.Dialog](ev); err == nil && d.State == "opened" {
			e.line(&e.trace, map[string]any{"type": "event",
				"time": zero +
					ev.T,
				"class":  "BrowserContext",
				"method": "dialog",
				"params": map[string]any{
					"pageId":       page(ev.Tab),
					"type":         d.Type,
					"message":      d.Message,
					"defaultValue": d.Default,
				}})
		}
	case record.KindDownload:
		if d, err := record.Of[record.Download](ev); err == nil {
			e.line(&e.trace, map[string]any{
				"type":   "event",
				"time":   zero + ev.T,
				"class":  "BrowserContext",
				"method": "download",
				"params": map[string]any{"pageId": page(ev.Tab), "url": d.URL, "suggestedFilename": d.Filename},
			})
		}
	}
}

func params(raw json.RawMessage) map[string]any {
	out := map[string]any{}
	_ = json.Unmarshal(raw, &out) // what is no object is none
	return out
}

func (e *export) before(ev record.Event, id, parent, title, method string, p map[string]any, more map[string]any) {
	line := map[string]any{
		"type":      "before",
		"callId":    id,
		"stepId":    id,
		"startTime": zero + ev.T,
		"title":     title,
		"class":     "Outrider",
		"method":    method,
		"params":    p,
		"pageId":    page(ev.Tab),
	}
	if parent != "" {
		line["parentId"] = parent
	}
	maps.Copy(line, more)
	e.open[id] = true
	e.line(&e.trace, line)
}

func (e *export) after(t float64, id string, more map[string]any) {
	if !e.open[id] {
		return
	}
	delete(e.open, id)
	line := map[string]any{"type": "after", "callId": id, "endTime": zero + t}
	maps.Copy(line, more)
	e.line(&e.trace, line)
}
