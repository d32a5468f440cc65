package browser

import (
	"encoding/json"
	"slices"

	"github.com/outrider-run/outrider/primitives"
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
	s        *session
	doc      *document
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
func (t *Tab) Frames() []primitives.FrameInfo {
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

// setTree takes the tree as a session sees it: its own frame and the descendants
// in the same process.
func (t *Tab) setTree(s *session, result []byte) {
	var r struct {
		FrameTree frameTree `json:"frameTree"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		t.b.log.Warn("unreadable frame tree", "bytes", len(result))
		return
	}
	t.mu.Lock()
	defer t.change.notify()
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
	if s.frame == "" {
		if t.main == "" {
			t.main = primitives.FrameID(root.Frame.ID)
		}
		take(root, "")
		return
	}
	f := t.frames[s.frame]
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
func (t *Tab) addFrame(s *session, id, parent primitives.FrameID) *frame {
	f := &frame{id: id, parent: parent, s: s, doc: newDocument()}
	t.frames[id] = f
	if p := t.frames[parent]; p != nil && parent != "" && !slices.Contains(p.children, id) {
		p.children = append(p.children, id)
	}
	return f
}

// navigated takes a new document.
func (f *frame) navigated(info frameInfo) {
	f.doc.end()
	f.doc = newDocument()
	f.url = info.URL + info.URLFragment
	f.name = info.Name
	f.loader = info.LoaderID
	f.failed = info.UnreachableURL
	f.loaded = false
	f.crashed = false
}

// removeFrame forgets a frame and all below it; t.mu is held.
func (t *Tab) removeFrame(id primitives.FrameID) {
	f := t.frames[id]
	if f == nil {
		return
	}
	delete(t.frames, id)
	t.removeChildren(f)
	f.doc.end()
	if p := t.frames[f.parent]; p != nil {
		p.children = slices.DeleteFunc(p.children, func(c primitives.FrameID) bool { return c == id })
	}
}

func (t *Tab) removeChildren(f *frame) {
	for _, c := range slices.Clone(f.children) {
		t.removeFrame(c)
	}
	f.children = nil
}

// framesMoved tells of other child frames, or other documents in them.
func (t *Tab) framesMoved() {
	t.change.notify()
	if t.b.opts.OnFrames != nil {
		t.b.opts.OnFrames(t)
	}
}

func (t *Tab) onFrameAttached(s *session, params []byte) {
	id := primitives.FrameID(plainString(member(params, "frameId")))
	parent := primitives.FrameID(plainString(member(params, "parentFrameId")))
	if id == "" || parent == "" || id == parent {
		return
	}
	t.mu.Lock()
	if f := t.frames[id]; f != nil {
		// It comes back into the process of its parent.
		if f.s != s {
			f.s = s
			f.doc.end()
			f.doc = newDocument()
		}
		f.parent = parent
		if p := t.frames[parent]; p != nil && !slices.Contains(p.children, id) {
			p.children = append(p.children, id)
		}
	} else {
		t.addFrame(s, id, parent)
	}
	t.mu.Unlock()
	t.framesMoved()
	t.hearFrame(s, id)
}

func (t *Tab) onFrameDetached(s *session, params []byte) {
	id := primitives.FrameID(plainString(member(params, "frameId")))
	swap := string(plainString(member(params, "reason"))) == "swap"
	t.mu.Lock()
	f := t.frames[id]
	switch {
	case f == nil:
	case !swap:
		t.removeFrame(id)
	case f.s == s:
		// It moves to another process, whose session is not here yet.
		f.s = nil
		f.doc.end()
		f.doc = newDocument()
		t.removeChildren(f)
	}
	t.mu.Unlock()
	t.framesMoved()
}

// onFrameSession starts to follow a frame in another process.
func (t *Tab) onFrameSession(s *session, info targetInfo) {
	t.mu.Lock()
	f := t.frames[s.frame]
	if f == nil {
		parent := primitives.FrameID(info.ParentFrameID)
		if parent == "" {
			if ps := t.b.sessions[s.parent]; ps != nil && ps.frame != "" {
				parent = ps.frame
			} else {
				parent = t.main
			}
		}
		f = t.addFrame(s, s.frame, parent)
	}
	t.removeChildren(f)
	f.s = s
	f.loader = ""
	f.crashed = false
	f.url = info.URL
	f.doc.end()
	f.doc = newDocument()
	t.mu.Unlock()
	commands := t.b.subscriptions(s)
	for i := range commands {
		if commands[i].method == "Page.getFrameTree" {
			commands[i].then = func(r reply) {
				if r.err == nil {
					t.setTree(s, r.result)
				}
			}
		}
	}
	t.b.c.post(commands...)
	t.framesMoved()
}

// onFrameSessionGone: the frame moves into the process of its parent, which
// reports it a moment later, or it is gone. A removal is reported too, but not by
// every browser version, so the parent is asked.
func (t *Tab) onFrameSessionGone(s *session) {
	t.mu.Lock()
	f := t.frames[s.frame]
	moved := f != nil && f.s == s
	if moved {
		f.s = nil
		f.doc.end()
		f.doc = newDocument()
		t.removeChildren(f)
	}
	t.mu.Unlock()
	t.net.sessionGone(s)
	if !moved {
		return
	}
	t.framesMoved()
	t.b.c.post(command{session: s.parent, method: "DOM.getFrameOwner", params: object("frameId", string(s.frame)), then: func(r reply) {
		if r.err == nil {
			return
		}
		t.mu.Lock()
		if f := t.frames[s.frame]; f != nil && f.s == nil {
			t.removeFrame(f.id)
		}
		t.mu.Unlock()
		t.framesMoved()
	}})
}

func (t *Tab) onFrameCrashed(s *session) {
	t.mu.Lock()
	if f := t.frames[s.frame]; f != nil && f.s == s {
		f.crashed = true
		t.removeChildren(f)
		f.doc.end()
		f.doc = newDocument()
	}
	t.mu.Unlock()
	t.framesMoved()
}

func (t *Tab) onFrameNavigated(s *session, params []byte) {
	var e struct {
		Frame frameInfo `json:"frame"`
	}
	if json.Unmarshal(params, &e) != nil || e.Frame.ID == "" {
		return
	}
	id := primitives.FrameID(e.Frame.ID)
	top := s.frame == "" && e.Frame.ParentID == ""
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
	t.change.notify()
	t.net.documentReplaced(id, e.Frame.LoaderID, top)
	t.hearFrame(s, id)
	if top {
		t.b.events.add(Event{Kind: TabNavigated, Tab: t})
	} else {
		t.framesMoved()
	}
}

// onDocumentOpened follows document.open, which gives a document the address of the
// one that called it.
func (t *Tab) onDocumentOpened(params []byte) {
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
	t.change.notify()
	if top {
		t.b.events.add(Event{Kind: TabChanged, Tab: t})
	}
}

func (t *Tab) onNavigatedWithin(params []byte) {
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
	t.change.notify()
	if top {
		t.refreshInfo()
		t.b.events.add(Event{Kind: TabChanged, Tab: t})
	} else if f != nil {
		t.framesMoved()
	}
}

func (t *Tab) onLifecycle(s *session, params []byte) {
	if s.frame != "" {
		return
	}
	t.refreshInfo()
	name := string(plainString(member(params, "name")))
	if name != "load" && name != "networkIdle" {
		return
	}
	id := primitives.FrameID(plainString(member(params, "frameId")))
	loader := string(plainString(member(params, "loaderId")))
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
		t.net.documentIdle(loader)
		return
	}
	if f != nil {
		t.change.notify()
	}
}

func (t *Tab) onLoading(params []byte, loading bool) {
	id := primitives.FrameID(plainString(member(params, "frameId")))
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
		t.change.notify()
	}
}
