package browser

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// A frame and the element that shows it live in two documents, perhaps in two
// processes; only the browser knows that they belong together. What it said
// holds as long as the parent's document does, so it is asked once.

// ChildFrame implements primitives.Page.
func (t *Tab) ChildFrame(ctx context.Context, parent primitives.FrameID, handle string) (primitives.FrameID, error) {
	p, err := t.locate(ctx, parent)
	if err != nil {
		return "", t.b.explain(err, "finding a frame")
	}
	if id, ok := p.doc.child(handle); ok && t.hasFrame(id) {
		return id, nil
	}
	remote, err := t.inWorld(ctx, p.id, func(token string) invocation {
		return invocation{function: elementFunction, args: []string{token, handle}}
	})
	if err != nil {
		return "", t.b.explain(err, "finding a frame")
	}
	object := string(plainString(member(remote, "objectId")))
	if object == "" {
		return "", fault.New(fault.TargetNotFound, "the frame's element is not there any more")
	}
	id, err := t.describeFrame(ctx, p.s, object)
	if err != nil {
		return "", err
	}
	p.doc.link(id, handle)
	return id, t.awaitFrame(ctx, id)
}

const elementFunction = `function(t,h){"use strict";return globalThis.outriderWorld!==t?'` + staleAnswer + `':globalThis.outrider.element(h)}`

func (t *Tab) describeFrame(ctx context.Context, s *session, objectID string) (primitives.FrameID, error) {
	var out struct {
		Node struct {
			FrameID primitives.FrameID `json:"frameId"`
		} `json:"node"`
	}
	err := t.askIn(ctx, s, "DOM.describeNode", object("objectId", objectID), &out)
	t.b.c.post(command{session: s.id, method: "Runtime.releaseObject", params: object("objectId", objectID)})
	if err != nil {
		return "", t.b.explain(err, "finding a frame")
	}
	if out.Node.FrameID == "" {
		return "", fault.New(fault.FrameNotFound, "the element shows no frame")
	}
	return out.Node.FrameID, nil
}

// awaitFrame waits until a frame that the browser named has reported itself.
func (t *Tab) awaitFrame(ctx context.Context, id primitives.FrameID) error {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	for {
		changed := t.change.wait()
		if t.hasFrame(id) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return t.b.explain(ctx.Err(), "finding a frame")
		case <-timer.C:
			return fault.New(fault.FrameNotFound, "the frame is not there any more")
		}
	}
}

func (t *Tab) hasFrame(id primitives.FrameID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.frames[id] != nil
}

// OwnerFrame implements primitives.Page.
func (t *Tab) OwnerFrame(ctx context.Context, frame primitives.FrameID) (primitives.FrameID, string, bool, error) {
	t.mu.Lock()
	f := t.frames[frame]
	if frame == "" || frame == t.main {
		t.mu.Unlock()
		return "", "", false, nil
	}
	if f == nil {
		t.mu.Unlock()
		return "", "", false, fault.New(fault.FrameNotFound, "the frame is not there any more")
	}
	parent := f.parent
	t.mu.Unlock()
	for range maxMoves {
		p, err := t.locate(ctx, parent)
		if err != nil {
			return "", "", false, t.b.explain(err, "finding a frame's element")
		}
		if handle, ok := p.doc.owner(frame); ok {
			return parent, handle, true, nil
		}
		handle, err := t.keepOwner(ctx, p, frame)
		if errors.Is(err, errStale) {
			continue
		}
		if err != nil {
			return "", "", false, t.b.explain(err, "finding a frame's element")
		}
		p.doc.link(frame, handle)
		return parent, handle, true, nil
	}
	return "", "", false, fault.New(fault.PageNavigated, "the parent document was replaced again and again")
}

// keepOwner asks for the element that shows frame and has the page library of
// the parent keep it.
func (t *Tab) keepOwner(ctx context.Context, p place, frame primitives.FrameID) (string, error) {
	var owner struct {
		BackendNodeID int `json:"backendNodeId"`
	}
	if err := t.askIn(ctx, p.s, "DOM.getFrameOwner", object("frameId", string(frame)), &owner); err != nil {
		if !t.hasFrame(frame) {
			return "", fault.New(fault.FrameNotFound, "the frame is not there any more")
		}
		return "", err
	}
	w := p.doc.current()
	if w == nil {
		// Any call makes the world.
		if _, err := t.invoke(ctx, p, func(string) invocation { return invocation{function: `function(){}`, byValue: true} }); err != nil {
			return "", err
		}
		if w = p.doc.current(); w == nil {
			return "", errStale
		}
	}
	params, err := json.Marshal(map[string]any{"backendNodeId": owner.BackendNodeID, "executionContextId": w.context, "objectGroup": worldName})
	if err != nil {
		return "", err
	}
	var node struct {
		Object struct {
			ObjectID string `json:"objectId"`
		} `json:"object"`
	}
	if err := t.askIn(ctx, p.s, "DOM.resolveNode", params, &node); err != nil {
		return "", t.classify(ctx, p, err)
	}
	remote, err := t.invoke(ctx, p, func(token string) invocation {
		return invocation{function: keepFunction, args: []string{token}, object: node.Object.ObjectID, byValue: true}
	})
	t.b.c.post(command{session: p.s.id, method: "Runtime.releaseObject", params: object("objectId", node.Object.ObjectID)})
	if err != nil {
		return "", err
	}
	handle, ok := unquote(member(remote, "value"))
	if !ok {
		return "", fault.New(fault.Internal, "the page library gave no handle")
	}
	return string(handle), nil
}

const keepFunction = `function(t){"use strict";return globalThis.outriderWorld!==t?'` + staleAnswer + `':globalThis.outrider.keep(this)}`

func (d *document) child(handle string) (primitives.FrameID, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	id, ok := d.byName[handle]
	return id, ok
}

func (d *document) owner(frame primitives.FrameID) (string, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h, ok := d.byFrame[frame]
	return h, ok
}

func (d *document) link(frame primitives.FrameID, handle string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.byFrame == nil {
		d.byFrame, d.byName = map[primitives.FrameID]string{}, map[string]primitives.FrameID{}
	}
	d.byFrame[frame], d.byName[handle] = handle, frame
}
