package trace

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/primitives/fault"
)

// formatVersion is that of Playwright's traces.
const formatVersion = 8

// zero is the time of the beginning on the clock of a trace, in milliseconds.
const zero = 1000.0

// ExportFile exports the recording at from to the zip at to, which is there only when it is whole.
func ExportFile(from, to string) error {
	r, err := record.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	f, err := os.CreateTemp(filepath.Dir(to), ".trace-*")
	if err != nil {
		return fault.Wrap(fault.InvalidInput, err, "the trace cannot be written")
	}
	defer os.Remove(f.Name())
	err = Export(r, f)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644) //nolint:gosec // a trace is there to be given to others
	}
	if err == nil {
		err = os.Rename(f.Name(), to)
	}
	return err
}

// Export writes a recording as a trace.
func Export(r *record.Recording, to io.Writer) error {
	e := &export{from: r, calls: record.Calls(r.Events), stored: map[string]string{}, pages: map[int]bool{}, frames: map[string]int{}}
	e.zip = zip.NewWriter(to)
	e.index()
	e.begin()
	for _, ev := range r.Events {
		e.event(ev)
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

// row is where a step stands in the list of actions.
type row struct {
	step   *record.Step
	call   *record.Call
	id     string // callId
	parent string
	group  *group
	whole  bool // the row of the call itself: the call is this primitive
}

// group is a step of a workflow with the primitives that ran for it.
type group struct {
	id, title   string
	call        *record.Call
	first, last string // steps of the recording
	failed      *record.StepEnd
}

// index decides which rows there are.
func (e *export) index() {
	e.byID, e.rows, e.open, e.groups = map[string]*record.Call{}, map[string]*row{}, map[string]bool{}, map[string][]*group{}
	for i := range e.calls {
		c := &e.calls[i]
		e.byID[c.ID] = c
		single := len(c.Steps) == 1 && c.Steps[0].Step == "" && c.Steps[0].Primitive == c.Name
		var g *group
		for j := range c.Steps {
			s := &c.Steps[j]
			r := &row{step: s, call: c, id: callID(s.ID), parent: callID(c.ID)}
			if single {
				r.id, r.parent, r.whole = callID(c.ID), "", true
			}
			if s.Step == "" {
				g = nil
			} else if g == nil || c.Steps[j-1].Step != s.Step {
				g = &group{id: callID(s.ID) + ".step", title: Title(*c) + " › step " + s.Step, call: c, first: s.ID}
				e.groups[c.ID] = append(e.groups[c.ID], g)
			}
			if g != nil {
				g.last, r.parent, r.group = s.ID, g.id, g
				g.failed = nil
				if s.End != nil && !s.End.OK {
					g.failed = s.End
				}
			}
			e.rows[s.ID] = r
		}
	}
}

func callID(id string) string { return "call@" + id }

// Title is how a call is named in lists: a site action by its own name.
func Title(c record.Call) string {
	if c.Name != "actions.site" {
		return c.Name
	}
	var in struct {
		Mode       string `json:"mode"`
		Action     string `json:"action"`
		ActionName string `json:"action_name"`
		Name       string `json:"name"`
		Projection string `json:"projection_name"`
	}
	_ = json.Unmarshal(c.Arguments, &in) // without, the name of the tool
	for _, name := range []string{in.Action, in.ActionName, in.Name} {
		if name != "" && (in.Mode == "call" || in.Mode == "") {
			return name
		}
	}
	title := strings.TrimSpace("actions.site " + in.Mode)
	if in.Projection != "" {
		title += " " + in.Projection
	}
	return title
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
	w, err := e.zip.Create(name)
	if err == nil {
		_, err = w.Write(data)
	}
	if err != nil {
		e.fail(err)
	}
}

// resource stores a resource under a name that the viewer takes for its kind.
func (e *export) resource(name, extension string) string {
	if e.stored[name] != "" {
		return e.stored[name]
	}
	data, err := e.from.Data(name)
	if err != nil {
		return ""
	}
	entry := name + "." + extension
	e.stored[name] = entry
	e.file("resources/"+entry, data)
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
		"type": "context-options", "version": formatVersion, "origin": "library", "contextId": "context@1", "browserName": "chromium", "platform": "linux",
		"wallTime": e.wall(0), "monotonicTime": zero, "title": title, "sdkLanguage": "javascript", "options": options,
	})
}

func page(tab int) string { return "page@" + strconv.Itoa(tab) }

func (e *export) event(ev record.Event) {
	e.last = max(e.last, ev.T)
	if ev.Tab != 0 && !e.pages[ev.Tab] {
		e.pages[ev.Tab] = true
		e.line(&e.trace, map[string]any{"type": "event", "time": zero + ev.T, "class": "BrowserContext", "method": "page", "params": map[string]any{"pageId": page(ev.Tab)}})
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
				e.line(&e.trace, map[string]any{"type": "screencast-frame", "pageId": page(ev.Tab), "sha1": entry, "width": p.Size.Width, "height": p.Size.Height, "timestamp": zero + ev.T})
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
			e.line(&e.trace, map[string]any{"type": "event", "time": zero + ev.T, "class": "BrowserContext", "method": "dialog", "params": map[string]any{"pageId": page(ev.Tab), "type": d.Type, "message": d.Message, "defaultValue": d.Default}})
		}
	case record.KindDownload:
		if d, err := record.Of[record.Download](ev); err == nil {
			e.line(&e.trace, map[string]any{"type": "event", "time": zero + ev.T, "class": "BrowserContext", "method": "download", "params": map[string]any{"pageId": page(ev.Tab), "url": d.URL, "suggestedFilename": d.Filename}})
		}
	}
}

func params(raw json.RawMessage) map[string]any {
	out := map[string]any{}
	_ = json.Unmarshal(raw, &out) // what is no object is none
	return out
}

func (e *export) before(ev record.Event, id, parent, title, method string, p map[string]any, more map[string]any) {
	line := map[string]any{"type": "before", "callId": id, "stepId": id, "startTime": zero + ev.T, "title": title, "class": "Outrider", "method": method, "params": p, "pageId": page(ev.Tab)}
	if parent != "" {
		line["parentId"] = parent
	}
	for k, v := range more {
		line[k] = v
	}
	e.open[id] = true
	e.line(&e.trace, line)
}

func (e *export) after(t float64, id string, more map[string]any) {
	if !e.open[id] {
		return
	}
	delete(e.open, id)
	line := map[string]any{"type": "after", "callId": id, "endTime": zero + t}
	for k, v := range more {
		line[k] = v
	}
	e.line(&e.trace, line)
}

// beginCall begins the row of a call, unless it is that of its one primitive.
func (e *export) beginCall(ev record.Event, c *record.Call) {
	if len(c.Steps) == 1 && e.rows[c.Steps[0].ID].whole {
		return
	}
	e.before(ev, callID(c.ID), "", Title(*c), c.Name, params(c.Arguments), nil)
}

func (e *export) endCall(ev record.Event, c *record.Call) {
	e.after(ev.T, callID(c.ID), outcome(c.OK, c.Output, c.Error))
}

func (e *export) beginStep(ev record.Event, r *row) {
	if g := r.group; g != nil && g.first == r.step.ID {
		e.before(ev, g.id, callID(r.call.ID), g.title, "step", map[string]any{"step": r.step.Step}, nil)
	}
	p := params(r.step.Arguments)
	if s := selector(r.step.Target); s != "" {
		p["selector"] = s
	}
	more := map[string]any{}
	if e.phase(r.step, "before") {
		more["beforeSnapshot"] = "before@" + r.id
	}
	e.before(ev, r.id, r.parent, r.step.Primitive, r.step.Primitive, p, more)
	if t := r.step.Target; t != nil && t.Element != nil {
		e.line(&e.trace, map[string]any{"type": "log", "callId": r.id, "time": zero + ev.T, "message": "target: " + strings.TrimSpace(t.Element.Role+" "+strconv.Quote(t.Element.Name)) + " <" + t.Element.Tag + ">"})
	}
}

func (e *export) endStep(ev record.Event, r *row, end record.StepEnd) {
	more := outcome(end.OK, end.Output, end.Error)
	if e.phase(r.step, "after") {
		more["afterSnapshot"] = "after@" + r.id
	}
	e.after(ev.T, r.id, more)
	if g := r.group; g != nil && g.last == r.step.ID {
		failed := map[string]any{}
		if g.failed != nil {
			failed = outcome(false, nil, g.failed.Error)
		}
		e.after(ev.T, g.id, failed)
	}
}

// phase says whether a step has a snapshot of the main frame.
func (e *export) phase(s *record.Step, phase string) bool {
	for _, one := range s.Snapshots {
		if one.Phase == phase && one.Main {
			return true
		}
	}
	return false
}

// outcome are the members of the end of a row.
func outcome(ok bool, output, failure json.RawMessage) map[string]any {
	more := map[string]any{}
	if len(output) > 0 {
		more["result"] = output
	}
	if ok {
		return more
	}
	var f struct{ Code, Message string }
	if json.Unmarshal(failure, &f) != nil || f.Code+f.Message == "" {
		f.Code, f.Message = "failed", "it failed"
	}
	more["error"] = map[string]any{"name": f.Code, "message": f.Code + ": " + f.Message}
	return more
}

// selector names a target in the words of Playwright.
func selector(t *record.Target) string {
	if t == nil || t.Element == nil {
		return ""
	}
	quoted := func(text string) string {
		b, _ := json.Marshal(text) // a string
		return string(b)
	}
	for _, c := range t.Candidates {
		switch {
		case c.Role != "":
			return "internal:role=" + c.Role + "[name=" + quoted(c.Name) + "i]"
		case c.Selector != "":
			return c.Selector
		}
	}
	return ""
}

// unfinished ends the rows that the recording does not see end.
func (e *export) unfinished() {
	for i := len(e.calls) - 1; i >= 0; i-- {
		c := &e.calls[i]
		cut := map[string]any{"error": map[string]any{"name": "recording_cut", "message": "the recording ends before the call does"}}
		for j := len(c.Steps) - 1; j >= 0; j-- {
			e.after(e.last, e.rows[c.Steps[j].ID].id, cut)
		}
		for _, g := range e.groups[c.ID] {
			e.after(e.last, g.id, cut)
		}
		e.after(e.last, callID(c.ID), cut)
	}
}

func (e *export) console(ev record.Event, c record.Console) {
	if c.Source == "exception" {
		message, _, _ := strings.Cut(c.Text, "\n")
		e.line(&e.trace, map[string]any{"type": "event", "time": zero + ev.T, "class": "BrowserContext", "method": "pageError", "params": map[string]any{
			"pageId": page(ev.Tab), "error": map[string]any{"error": map[string]any{"name": "Error", "message": message, "stack": c.Text}},
			"location": map[string]any{"url": c.URL, "line": c.Line, "column": c.Column},
		}})
		return
	}
	kind := c.Level
	if kind == "info" {
		kind = "log"
	}
	e.line(&e.trace, map[string]any{
		"type": "console", "time": zero + ev.T, "pageId": page(ev.Tab), "messageType": kind, "text": c.Text,
		"args":     []any{map[string]any{"preview": c.Text, "value": c.Text}},
		"location": map[string]any{"url": c.URL, "lineNumber": max(0, c.Line-1), "columnNumber": max(0, c.Column-1)},
	})
}

// snapshot adds the document of a frame, with the target marked, and for the state in which the action
// finds it once more with the point.
func (e *export) snapshot(ev record.Event, r *row, s record.Snapshot) {
	raw, err := e.from.Data(s.Resource)
	if err != nil {
		return
	}
	var root any
	if json.Unmarshal(raw, &root) != nil {
		return
	}
	t := r.step.Target
	if t != nil && len(t.Path) > 0 && s.Phase == "before" && (t.Frame == s.Frame || t.Frame == "" && s.Main) {
		mark(root, t.Path, "__playwright_target__", r.id)
	}
	frames(root, s.Frames)
	add := func(name, phase string) {
		e.line(&e.trace, map[string]any{"type": "frame-snapshot", "snapshot": map[string]any{
			"callId": r.id, "snapshotName": name + "@" + r.id, "pageId": page(ev.Tab), "frameId": s.Frame, "frameUrl": s.URL, "timestamp": zero + ev.T, "wallTime": e.wall(ev.T),
			"collectionTime": 0, "doctype": s.Doctype, "html": root, "resourceOverrides": []any{}, "viewport": s.Size, "isMainFrame": s.Main,
		}})
	}
	add(s.Phase, s.Phase)
	if s.Phase == "before" {
		if s.Main {
			input := map[string]any{"type": "input", "callId": r.id, "inputSnapshot": "input@" + r.id}
			if t != nil && t.Point != nil {
				input["point"] = t.Point
			}
			e.line(&e.trace, input)
		}
		add("input", "action")
	}
}

// mark sets an attribute of the node that a path leads to.
func mark(root any, path []int, name, value string) {
	at := root
	for _, place := range path {
		node, ok := at.([]any)
		if !ok || place < 0 || len(node) < place+3 {
			return
		}
		at = node[place+2]
	}
	if node, ok := at.([]any); ok && len(node) > 1 {
		if attributes, ok := node[1].(map[string]any); ok {
			attributes[name] = value
		}
	}
}

// frames puts the snapshots of frames in place of their addresses.
func frames(root any, ids []string) {
	node, ok := root.([]any)
	if !ok || len(node) < 2 {
		return
	}
	if attributes, ok := node[1].(map[string]any); ok {
		if text, ok := attributes["__outrider_frame__"].(string); ok {
			delete(attributes, "__outrider_frame__")
			if i, err := strconv.Atoi(text); err == nil && i < len(ids) && ids[i] != "" {
				attributes["src"] = "/snapshot/" + ids[i]
			}
		}
	}
	for _, child := range node[2:] {
		frames(child, ids)
	}
}

// extensions are those under which the viewer takes bodies for what they are.
func extension(mimeType string) string {
	base, _, _ := strings.Cut(mimeType, ";")
	switch strings.TrimSpace(base) {
	case "text/html":
		return "html"
	case "text/css":
		return "css"
	case "text/javascript", "application/javascript":
		return "js"
	case "application/json":
		return "json"
	case "image/png":
		return "png"
	case "image/jpeg":
		return "jpeg"
	case "image/svg+xml":
		return "svg"
	}
	return "dat"
}

// request adds an entry of the network, in the form of HAR.
func (e *export) request(ev record.Event, q record.Request) {
	content := map[string]any{"size": q.BodySize, "mimeType": q.MimeType}
	if q.MimeType == "" {
		content["mimeType"] = "x-unknown"
	}
	if q.Body != "" {
		if entry := e.resource(q.Body, extension(q.MimeType)); entry != "" {
			content["_sha1"] = entry
		}
	}
	request := map[string]any{
		"method": q.Method, "url": q.URL, "httpVersion": q.Protocol, "cookies": []any{}, "headers": headers(q.RequestHeaders), "queryString": []any{}, "headersSize": -1, "bodySize": -1,
	}
	if q.RequestBody != "" {
		if entry := e.resource(q.RequestBody, "dat"); entry != "" {
			request["postData"] = map[string]any{"mimeType": e.from.Type(q.RequestBody), "_sha1": entry, "params": []any{}}
		}
	}
	status := q.Status
	if q.State == "failed" && status == 0 {
		status = -1
	}
	response := map[string]any{
		"status": status, "statusText": q.StatusText, "httpVersion": q.Protocol, "cookies": []any{}, "headers": headers(q.ResponseHeaders), "content": content,
		"headersSize": -1, "bodySize": q.Bytes, "redirectURL": header(q.ResponseHeaders, "location"),
	}
	if q.Failure != "" {
		response["_failureText"] = q.Failure
	}
	e.line(&e.network, map[string]any{"type": "resource-snapshot", "snapshot": map[string]any{
		"pageref": page(ev.Tab), "startedDateTime": q.Began.UTC().Format("2006-01-02T15:04:05.000Z"), "time": q.DurationMS,
		"_monotonicTime": zero + float64(q.Began.Sub(e.from.Header.Started).Microseconds())/1000, "_frameref": q.Frame, "_resourceType": q.Type,
		"request": request, "response": response, "cache": map[string]any{},
		"timings": map[string]any{"dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": q.FirstByteMS, "receive": max(0, q.DurationMS-q.FirstByteMS)},
	}})
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

func headers(raw json.RawMessage) []any {
	var all map[string]string
	_ = json.Unmarshal(raw, &all) // none without
	out := []any{}
	for _, name := range sortedKeys(all) {
		for value := range strings.SplitSeq(all[name], "\n") {
			out = append(out, map[string]any{"name": name, "value": value})
		}
	}
	return out
}

func header(raw json.RawMessage, name string) string {
	var all map[string]string
	_ = json.Unmarshal(raw, &all) // none without
	for k, v := range all {
		if strings.EqualFold(k, name) {
			return v
		}
	}
	return ""
}

// Summary says in a line what a recording holds.
func Summary(r *record.Recording) string {
	failed := 0
	calls := record.Calls(r.Events)
	for _, c := range calls {
		if c.Finished && !c.OK {
			failed++
		}
	}
	return fmt.Sprintf("%d calls, %d failed, %d events", len(calls), failed, len(r.Events))
}
