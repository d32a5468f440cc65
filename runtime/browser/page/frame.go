package page

import (
	"encoding/json"
	"slices"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/world"
)

// frame is one frame of a tab. The picture of the tree is put together from the
// events of all sessions of the tab; Page.mu guards it.
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
	failed   string // address that could not be loaded, when this is an error page
	session  *cdp.Session
	document *world.Document
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
func (p *Page) Frames() []primitives.FrameInfo {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]primitives.FrameInfo, 0, len(p.frames))
	var walk func(id primitives.FrameID, depth int)
	walk = func(id primitives.FrameID, depth int) {
		f := p.frames[id]
		if f == nil || depth > len(p.frames) {
			return
		}
		info := primitives.FrameInfo{ID: f.id, Parent: f.parent, URL: f.url, Name: f.name}
		if p := p.frames[f.parent]; p != nil {
			info.Remote = f.session != p.session
		}
		out = append(out, info)
		for _, c := range f.children {
			walk(c, depth+1)
		}
	}
	walk(p.main, 0)
	return out
}

// SetTree takes the tree as a session sees it: its own frame and the descendants
// in the same process.
func (p *Page) SetTree(s *cdp.Session, result []byte) {
	var r struct {
		FrameTree frameTree `json:"frameTree"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		p.log.Warn("unreadable frame tree", "bytes", len(result))
		return
	}
	p.mu.Lock()
	defer p.change.Notify()
	defer p.mu.Unlock()
	var take func(n *frameTree, parent primitives.FrameID)
	take = func(n *frameTree, parent primitives.FrameID) {
		f := p.frames[primitives.FrameID(n.Frame.ID)]
		switch {
		case f == nil:
			f = p.addFrame(s, primitives.FrameID(n.Frame.ID), parent)
			f.navigated(n.Frame)
		case f.loader == "":
			f.session = s
			f.navigated(n.Frame)
		}
		for i := range n.ChildFrames {
			take(&n.ChildFrames[i], f.id)
		}
	}
	root := &r.FrameTree
	if s.Frame == "" {
		if p.main == "" {
			p.main = primitives.FrameID(root.Frame.ID)
		}
		take(root, "")
		return
	}
	f := p.frames[primitives.FrameID(s.Frame)]
	if f == nil || f.session != s {
		return
	}
	if f.loader == "" {
		f.navigated(root.Frame)
	}
	for i := range root.ChildFrames {
		take(&root.ChildFrames[i], f.id)
	}
}

// addFrame adds a frame below parent; p.mu is held.
func (p *Page) addFrame(s *cdp.Session, id, parent primitives.FrameID) *frame {
	f := &frame{id: id, parent: parent, session: s, document: world.NewDocument()}
	p.frames[id] = f
	if p := p.frames[parent]; p != nil && parent != "" && !slices.Contains(p.children, id) {
		p.children = append(p.children, id)
	}
	return f
}

// navigated takes a new document.
func (f *frame) navigated(info frameInfo) {
	f.document.End()
	f.document = world.NewDocument()
	f.url = address.WithoutUser(info.URL + info.URLFragment)
	f.name = info.Name
	f.loader = info.LoaderID
	f.failed = address.WithoutUser(info.UnreachableURL)
	f.loaded = false
	f.crashed = false
}

// removeFrame forgets a frame and all below it; p.mu is held.
func (p *Page) removeFrame(id primitives.FrameID) {
	f := p.frames[id]
	if f == nil {
		return
	}
	delete(p.frames, id)
	p.removeChildren(f)
	f.document.End()
	if p := p.frames[f.parent]; p != nil {
		p.children = slices.DeleteFunc(p.children, func(c primitives.FrameID) bool { return c == id })
	}
}

func (p *Page) removeChildren(f *frame) {
	for _, c := range slices.Clone(f.children) {
		p.removeFrame(c)
	}
	f.children = nil
}

// FramesChanged reports other child frames, or other documents in them.
func (p *Page) FramesChanged() {
	p.change.Notify()
	p.observer.FramesChanged()
}

func (p *Page) onFrameAttached(s *cdp.Session, params []byte) {
	id := primitives.FrameID(cdp.PlainString(cdp.Member(params, "frameId")))
	parent := primitives.FrameID(cdp.PlainString(cdp.Member(params, "parentFrameId")))
	if id == "" || parent == "" || id == parent {
		return
	}
	p.mu.Lock()
	if f := p.frames[id]; f != nil {
		// It moves back into the process of its parent.
		if f.session != s {
			f.session = s
			f.document.End()
			f.document = world.NewDocument()
		}
		f.parent = parent
		if p := p.frames[parent]; p != nil && !slices.Contains(p.children, id) {
			p.children = append(p.children, id)
		}
	} else {
		p.addFrame(s, id, parent)
	}
	p.mu.Unlock()
	p.FramesChanged()
	p.observer.FrameBegan(s, id)
}

func (p *Page) onFrameDetached(s *cdp.Session, params []byte) {
	id := primitives.FrameID(cdp.PlainString(cdp.Member(params, "frameId")))
	swap := string(cdp.PlainString(cdp.Member(params, "reason"))) == "swap"
	p.mu.Lock()
	f := p.frames[id]
	switch {
	case f == nil:
	case !swap:
		p.removeFrame(id)
	case f.session == s:
		// It moves to another process, whose session is not here yet.
		f.session = nil
		f.document.End()
		f.document = world.NewDocument()
		p.removeChildren(f)
	}
	p.mu.Unlock()
	p.FramesChanged()
}

// BeginFrameSession follows a frame that runs in another process, which the session
// reporter has reported.
func (p *Page) BeginFrameSession(s, reporter *cdp.Session, info FrameTarget) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := primitives.FrameID(s.Frame)
	f := p.frames[id]
	if f == nil {
		parent := info.Parent
		switch {
		case parent != "":
		case reporter.Frame != "":
			parent = primitives.FrameID(reporter.Frame)
		default:
			parent = p.main
		}
		f = p.addFrame(s, id, parent)
	}
	p.removeChildren(f)
	f.session = s
	f.loader = ""
	f.crashed = false
	f.url = address.WithoutUser(info.URL)
	f.document.End()
	f.document = world.NewDocument()
}

// EndFrameSession: the frame moves into the process of its parent, which
// reports it a moment later, or it was removed. A removal is reported too, but not by
// every browser version, so the parent is queried.
func (p *Page) EndFrameSession(s *cdp.Session) {
	id := primitives.FrameID(s.Frame)
	p.mu.Lock()
	f := p.frames[id]
	moved := f != nil && f.session == s
	if moved {
		f.session = nil
		f.document.End()
		f.document = world.NewDocument()
		p.removeChildren(f)
	}
	p.mu.Unlock()
	p.observer.SessionDetached(s)
	if !moved {
		return
	}
	p.FramesChanged()
	p.client.Post(cdp.Command{
		Session: s.Parent,
		Method:  "DOM.getFrameOwner",
		Params:  cdp.Object("frameId", s.Frame),
		OnReply: func(r cdp.Reply) {
			if r.Err == nil {
				return
			}
			p.mu.Lock()
			if f := p.frames[id]; f != nil && f.session == nil {
				p.removeFrame(f.id)
			}
			p.mu.Unlock()
			p.FramesChanged()
		},
	})
}

func (p *Page) onFrameCrashed(s *cdp.Session) {
	p.mu.Lock()
	if f := p.frames[primitives.FrameID(s.Frame)]; f != nil && f.session == s {
		f.crashed = true
		p.removeChildren(f)
		f.document.End()
		f.document = world.NewDocument()
	}
	p.mu.Unlock()
	p.FramesChanged()
}

func (p *Page) onFrameNavigated(s *cdp.Session, params []byte) {
	var e struct {
		Frame frameInfo `json:"frame"`
		Type  string    `json:"type"`
	}
	if json.Unmarshal(params, &e) != nil || e.Frame.ID == "" {
		return
	}
	id := primitives.FrameID(e.Frame.ID)
	top := s.Frame == "" && e.Frame.ParentID == ""
	p.mu.Lock()
	f := p.frames[id]
	if f == nil {
		f = p.addFrame(s, id, primitives.FrameID(e.Frame.ParentID))
	}
	f.session = s
	p.removeChildren(f)
	f.navigated(e.Frame)
	f.loaded = e.Type == "BackForwardCacheRestore" // such a document is shown again, it does not load
	if top {
		if p.main != id {
			p.removeFrame(p.main)
			p.main = id
		}
		p.restartLocked()
		p.commits++
		p.loaders[p.commits%len(p.loaders)] = f.loader
		p.redirect, p.redirecting = false, false
		if p.awaited == f.loader {
			p.awaited = ""
		}
		p.identity.URL = f.url
	}
	p.mu.Unlock()
	p.change.Notify()
	p.observer.DocumentReplaced(id, e.Frame.LoaderID, top)
	p.observer.FrameBegan(s, id)
	if top {
		p.refreshTarget()
		p.observer.Navigated()
	} else {
		p.FramesChanged()
	}
}

// Documents counts the documents that the tab has had.
func (p *Page) Documents() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.commits
}

// onDocumentOpened follows document.open, which gives a document the address of the
// one that called it.
func (p *Page) onDocumentOpened(params []byte) {
	var e struct {
		Frame frameInfo `json:"frame"`
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	p.mu.Lock()
	f := p.frames[primitives.FrameID(e.Frame.ID)]
	top := false
	if f != nil {
		f.url = address.WithoutUser(e.Frame.URL + e.Frame.URLFragment)
		top = f.id == p.main
		if top {
			p.identity.URL = f.url
		}
	}
	p.mu.Unlock()
	p.change.Notify()
	if top {
		p.observer.Changed()
	}
}

func (p *Page) onNavigatedWithin(params []byte) {
	var e struct {
		FrameID primitives.FrameID `json:"frameId"`
		URL     string             `json:"url"`
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	p.mu.Lock()
	f := p.frames[e.FrameID]
	top := false
	if f != nil {
		f.url = address.WithoutUser(e.URL)
		top = e.FrameID == p.main
		if top {
			p.identity.URL = f.url
			p.moves++
		}
	}
	p.mu.Unlock()
	p.change.Notify()
	if top {
		p.refreshTarget()
		p.observer.Changed()
	} else if f != nil {
		p.FramesChanged()
	}
}

// collectAfter is after how many documents garbage is collected: Chromium keeps those that were left for hundreds of
// navigations, with a page library in each.
const collectAfter = 16

// collectAfterCalls is the same for calls: what they leave in a document is kept for long too.
const collectAfterCalls = 10_000

func (p *Page) collectGarbage() {
	p.client.Post(cdp.Command{Session: p.session.ID, Method: "HeapProfiler.collectGarbage"})
}

func (p *Page) onLifecycle(s *cdp.Session, params []byte) {
	if s.Frame != "" {
		return
	}
	name := string(cdp.PlainString(cdp.Member(params, "name")))
	if name != "load" && name != "networkIdle" {
		return
	}
	id := primitives.FrameID(cdp.PlainString(cdp.Member(params, "frameId")))
	loader := string(cdp.PlainString(cdp.Member(params, "loaderId")))
	p.mu.Lock()
	f := p.frames[id]
	collect := false
	// Whoever waits for a report of the document gets its title from that.
	stale := id == p.main && (name == "networkIdle" || p.loadReport == nil)
	if f != nil && f.loader == loader {
		if name == "networkIdle" {
			f.idle = loader
		} else {
			collect = id == p.main && p.commits > 0 && p.commits%collectAfter == 0 && !f.loaded
			f.loaded = true
		}
	}
	p.mu.Unlock()
	if stale {
		p.refreshTarget()
	}
	if collect {
		p.collectGarbage()
	}
	if name == "networkIdle" {
		p.observer.DocumentQuiet(loader)
		return
	}
	if f != nil {
		p.change.Notify()
	}
}

func (p *Page) onLoading(params []byte, loading bool) {
	id := primitives.FrameID(cdp.PlainString(cdp.Member(params, "frameId")))
	p.mu.Lock()
	top := id == p.main
	if top {
		p.loading = loading
		if !loading {
			p.awaited = ""
		}
		if !loading && p.redirecting { // into a download, or to nothing
			p.redirect = false
		}
		p.redirecting = loading && p.redirect
	}
	p.mu.Unlock()
	if top {
		p.change.Notify()
	}
}
