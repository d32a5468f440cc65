package page

import (
	"encoding/json"
	"slices"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/world"
)

// frame is one frame of a tab. The picture of the tree is put together from the
// events of all sessions of the tab; Tab.mu guards it.
//
// A frame keeps its id when it moves between processes. While it does there can
// be a moment without a session: then s is nil.
type frame struct {
	id       primitives.FrameID
	parent   primitives.FrameID
	children []primitives.FrameID
	url      string
	name     string
	loader   string
	loaded   bool   // the load event of this document fired
	idle     string // loader whose document the browser has found quiet
	failed   string // address that could not be reached, when this is an error page
	s        *cdp.Session
	doc      *world.Document
	crashed  bool
}

type frameInfo struct {
	ID             string `json:"id"`
	ParentID       string `json:"parentId"`
	LoaderID       string `json:"loaderId"`
	Name           string `json:"name"`
	URL            string `json:"url"`
	URLFragment    string `json:"urlFragment"`
	UnreachableURL string `json:"unreachableUrl"`
}

type frameTree struct {
	Frame       frameInfo   `json:"frame"`
	ChildFrames []frameTree `json:"childFrames"`
}

// Frames implements primitives.Page. Frames of one parent come in the order in
// which they were attached, which is document order unless a script inserted one
// before another.
func (t *Page) Frames() []primitives.FrameInfo {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]primitives.FrameInfo, 0, len(t.frames))
	var walk func(id primitives.FrameID, depth int)
	walk = func(id primitives.FrameID, depth int) {
		f := t.frames[id]
		if f == nil || depth > len(t.frames) {
			return
		}
		info := primitives.FrameInfo{ID: f.id, Parent: f.parent, URL: f.url, Name: f.name}
		if p := t.frames[f.parent]; p != nil {
			info.Remote = f.s != p.s
		}
		out = append(out, info)
		for _, c := range f.children {
			walk(c, depth+1)
		}
	}
	walk(t.main, 0)
	return out
}

// SetTree takes the tree as a session sees it: its own frame and the descendants
// in the same process.
func (t *Page) SetTree(s *cdp.Session, result []byte) {
	var r struct {
		FrameTree frameTree `json:"frameTree"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		t.log.Warn("unreadable frame tree", "bytes", len(result))
		return
	}
	t.mu.Lock()
	defer t.change.Notify()
	defer t.mu.Unlock()
	var take func(n *frameTree, parent primitives.FrameID)
	take = func(n *frameTree, parent primitives.FrameID) {
		f := t.frames[primitives.FrameID(n.Frame.ID)]
		switch {
		case f == nil:
			f = t.addFrame(s, primitives.FrameID(n.Frame.ID), parent)
			f.navigated(n.Frame)
		case f.loader == "":
			f.s = s
			f.navigated(n.Frame)
		}
		for i := range n.ChildFrames {
			take(&n.ChildFrames[i], f.id)
		}
	}
	root := &r.FrameTree
	if s.Frame == "" {
		if t.main == "" {
			t.main = primitives.FrameID(root.Frame.ID)
		}
		take(root, "")
		return
	}
	f := t.frames[primitives.FrameID(s.Frame)]
	if f == nil || f.s != s {
		return
	}
	if f.loader == "" {
		f.navigated(root.Frame)
	}
	for i := range root.ChildFrames {
		take(&root.ChildFrames[i], f.id)
	}
}

// addFrame adds a frame below parent; t.mu is held.
func (t *Page) addFrame(s *cdp.Session, id, parent primitives.FrameID) *frame {
	f := &frame{id: id, parent: parent, s: s, doc: world.NewDocument()}
	t.frames[id] = f
	if p := t.frames[parent]; p != nil && parent != "" && !slices.Contains(p.children, id) {
		p.children = append(p.children, id)
	}
	return f
}

// navigated takes a new document.
func (f *frame) navigated(info frameInfo) {
	f.doc.End()
	f.doc = world.NewDocument()
	f.url = info.URL + info.URLFragment
	f.name = info.Name
	f.loader = info.LoaderID
	f.failed = info.UnreachableURL
	f.loaded = false
	f.crashed = false
}

// removeFrame forgets a frame and all below it; t.mu is held.
func (t *Page) removeFrame(id primitives.FrameID) {
	f := t.frames[id]
	if f == nil {
		return
	}
	delete(t.frames, id)
	t.removeChildren(f)
	f.doc.End()
	if p := t.frames[f.parent]; p != nil {
		p.children = slices.DeleteFunc(p.children, func(c primitives.FrameID) bool { return c == id })
	}
}

func (t *Page) removeChildren(f *frame) {
	for _, c := range slices.Clone(f.children) {
		t.removeFrame(c)
	}
	f.children = nil
}

// FramesChanged tells of other child frames, or other documents in them.
func (t *Page) FramesChanged() {
	t.change.Notify()
	t.observer.FramesChanged()
}

func (t *Page) onFrameAttached(s *cdp.Session, params []byte) {
	id := primitives.FrameID(cdp.PlainString(cdp.Member(params, "frameId")))
	parent := primitives.FrameID(cdp.PlainString(cdp.Member(params, "parentFrameId")))
	if id == "" || parent == "" || id == parent {
		return
	}
	t.mu.Lock()
	if f := t.frames[id]; f != nil {
		// It comes back into the process of its parent.
		if f.s != s {
			f.s = s
			f.doc.End()
			f.doc = world.NewDocument()
		}
		f.parent = parent
		if p := t.frames[parent]; p != nil && !slices.Contains(p.children, id) {
			p.children = append(p.children, id)
		}
	} else {
		t.addFrame(s, id, parent)
	}
	t.mu.Unlock()
	t.FramesChanged()
	t.observer.FrameBegan(s, id)
}

func (t *Page) onFrameDetached(s *cdp.Session, params []byte) {
	id := primitives.FrameID(cdp.PlainString(cdp.Member(params, "frameId")))
	swap := string(cdp.PlainString(cdp.Member(params, "reason"))) == "swap"
	t.mu.Lock()
	f := t.frames[id]
	switch {
	case f == nil:
	case !swap:
		t.removeFrame(id)
	case f.s == s:
		// It moves to another process, whose session is not here yet.
		f.s = nil
		f.doc.End()
		f.doc = world.NewDocument()
		t.removeChildren(f)
	}
	t.mu.Unlock()
	t.FramesChanged()
}

// BeginFrameSession follows a frame that runs in another process, which the session
// reporter has reported.
func (t *Page) BeginFrameSession(s, reporter *cdp.Session, info FrameTarget) {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := primitives.FrameID(s.Frame)
	f := t.frames[id]
	if f == nil {
		parent := info.Parent
		switch {
		case parent != "":
		case reporter.Frame != "":
			parent = primitives.FrameID(reporter.Frame)
		default:
			parent = t.main
		}
		f = t.addFrame(s, id, parent)
	}
	t.removeChildren(f)
	f.s = s
	f.loader = ""
	f.crashed = false
	f.url = info.URL
	f.doc.End()
	f.doc = world.NewDocument()
}

// EndFrameSession: the frame moves into the process of its parent, which
// reports it a moment later, or it is gone. A removal is reported too, but not by
// every browser version, so the parent is asked.
func (t *Page) EndFrameSession(s *cdp.Session) {
	id := primitives.FrameID(s.Frame)
	t.mu.Lock()
	f := t.frames[id]
	moved := f != nil && f.s == s
	if moved {
		f.s = nil
		f.doc.End()
		f.doc = world.NewDocument()
		t.removeChildren(f)
	}
	t.mu.Unlock()
	t.observer.SessionDetached(s)
	if !moved {
		return
	}
	t.FramesChanged()
	t.client.Post(cdp.Command{Session: s.Parent, Method: "DOM.getFrameOwner", Params: cdp.Object("frameId", s.Frame), OnReply: func(r cdp.Reply) {
		if r.Err == nil {
			return
		}
		t.mu.Lock()
		if f := t.frames[id]; f != nil && f.s == nil {
			t.removeFrame(f.id)
		}
		t.mu.Unlock()
		t.FramesChanged()
	}})
}

func (t *Page) onFrameCrashed(s *cdp.Session) {
	t.mu.Lock()
	if f := t.frames[primitives.FrameID(s.Frame)]; f != nil && f.s == s {
		f.crashed = true
		t.removeChildren(f)
		f.doc.End()
		f.doc = world.NewDocument()
	}
	t.mu.Unlock()
	t.FramesChanged()
}

func (t *Page) onFrameNavigated(s *cdp.Session, params []byte) {
	var e struct {
		Frame frameInfo `json:"frame"`
	}
	if json.Unmarshal(params, &e) != nil || e.Frame.ID == "" {
		return
	}
	id := primitives.FrameID(e.Frame.ID)
	top := s.Frame == "" && e.Frame.ParentID == ""
	t.mu.Lock()
	f := t.frames[id]
	if f == nil {
		f = t.addFrame(s, id, primitives.FrameID(e.Frame.ParentID))
	}
	f.s = s
	t.removeChildren(f)
	f.navigated(e.Frame)
	if top {
		if t.main != id {
			t.removeFrame(t.main)
			t.main = id
		}
		t.revive()
		t.commits++
		t.loaders[t.commits%len(t.loaders)] = f.loader
		t.redirect, t.redirecting = false, false
		t.identity.URL = f.url
	}
	t.mu.Unlock()
	t.change.Notify()
	t.observer.DocumentReplaced(id, e.Frame.LoaderID, top)
	t.observer.FrameBegan(s, id)
	if top {
		t.observer.Navigated()
	} else {
		t.FramesChanged()
	}
}

// onDocumentOpened follows document.open, which gives a document the address of the
// one that called it.
func (t *Page) onDocumentOpened(params []byte) {
	var e struct {
		Frame frameInfo `json:"frame"`
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	t.mu.Lock()
	f := t.frames[primitives.FrameID(e.Frame.ID)]
	top := false
	if f != nil {
		f.url = e.Frame.URL + e.Frame.URLFragment
		if top = f.id == t.main; top {
			t.identity.URL = f.url
		}
	}
	t.mu.Unlock()
	t.change.Notify()
	if top {
		t.observer.Changed()
	}
}

func (t *Page) onNavigatedWithin(params []byte) {
	var e struct {
		FrameID primitives.FrameID `json:"frameId"`
		URL     string             `json:"url"`
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	t.mu.Lock()
	f := t.frames[e.FrameID]
	top := false
	if f != nil {
		f.url = e.URL
		if top = e.FrameID == t.main; top {
			t.identity.URL = e.URL
			t.within++
		}
	}
	t.mu.Unlock()
	t.change.Notify()
	if top {
		t.refreshTarget()
		t.observer.Changed()
	} else if f != nil {
		t.FramesChanged()
	}
}

func (t *Page) onLifecycle(s *cdp.Session, params []byte) {
	if s.Frame != "" {
		return
	}
	t.refreshTarget()
	name := string(cdp.PlainString(cdp.Member(params, "name")))
	if name != "load" && name != "networkIdle" {
		return
	}
	id := primitives.FrameID(cdp.PlainString(cdp.Member(params, "frameId")))
	loader := string(cdp.PlainString(cdp.Member(params, "loaderId")))
	t.mu.Lock()
	f := t.frames[id]
	if f != nil && f.loader == loader {
		if name == "networkIdle" {
			f.idle = loader
		} else {
			f.loaded = true
		}
	}
	t.mu.Unlock()
	if name == "networkIdle" {
		t.observer.DocumentQuiet(loader)
		return
	}
	if f != nil {
		t.change.Notify()
	}
}

func (t *Page) onLoading(params []byte, loading bool) {
	id := primitives.FrameID(cdp.PlainString(cdp.Member(params, "frameId")))
	t.mu.Lock()
	top := id == t.main
	if top {
		t.loading = loading
		if !loading && t.redirecting { // into a download, or to nothing
			t.redirect = false
		}
		t.redirecting = loading && t.redirect
	}
	t.mu.Unlock()
	if top {
		t.change.Notify()
	}
}
