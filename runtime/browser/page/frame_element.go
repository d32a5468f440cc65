package page

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/world"
)

// A frame and the element that shows it live in two documents, perhaps in two
// processes; only the browser knows that they belong together. What it said
// holds as long as the parent's document does, so it is asked once.

// ChildFrame implements primitives.Page.
func (t *Page) ChildFrame(ctx context.Context, parent primitives.FrameID, handle string) (primitives.FrameID, error) {
	p, err := t.locate(ctx, parent)
	if err != nil {
		return "", cdp.Explain(err, "finding a frame")
	}
	if id, ok := p.doc.ChildFrame(handle); ok && t.HasFrame(id) {
		return id, nil
	}
	remote, err := t.Run(ctx, p.id, func(token string) world.Invocation {
		return world.Invocation{Function: elementFunction, Args: []string{token, handle}}
	})
	if err != nil {
		return "", cdp.Explain(err, "finding a frame")
	}
	object := string(cdp.PlainString(cdp.Member(remote, "objectId")))
	if object == "" {
		return "", fault.New(fault.TargetNotFound, "the frame's element is not there any more")
	}
	id, err := t.describeFrame(ctx, p.s, object)
	if err != nil {
		return "", err
	}
	p.doc.Link(id, handle)
	return id, t.awaitFrame(ctx, id)
}

const elementFunction = `function(t,h){"use strict";return globalThis.outriderWorld!==t?'` + world.StaleAnswer + `':globalThis.outrider.element(h)}`

func (t *Page) describeFrame(ctx context.Context, s *cdp.Session, objectID string) (primitives.FrameID, error) {
	var out struct {
		Node struct {
			FrameID primitives.FrameID `json:"frameId"`
		} `json:"node"`
	}
	err := t.askIn(ctx, s, "DOM.describeNode", cdp.Object("objectId", objectID), &out)
	t.client.Post(cdp.Command{Session: s.ID, Method: "Runtime.releaseObject", Params: cdp.Object("objectId", objectID)})
	if err != nil {
		return "", cdp.Explain(err, "finding a frame")
	}
	if out.Node.FrameID == "" {
		return "", fault.New(fault.FrameNotFound, "the element shows no frame")
	}
	return out.Node.FrameID, nil
}

// awaitFrame waits until a frame that the browser named has reported itself.
func (t *Page) awaitFrame(ctx context.Context, id primitives.FrameID) error {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	for {
		changed := t.change.Wait()
		if t.HasFrame(id) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return cdp.Explain(ctx.Err(), "finding a frame")
		case <-timer.C:
			return fault.New(fault.FrameNotFound, "the frame is not there any more")
		}
	}
}

// HasFrame reports whether the page has a frame.
func (t *Page) HasFrame(id primitives.FrameID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.frames[id] != nil
}

// OwnerFrame implements primitives.Page.
func (t *Page) OwnerFrame(ctx context.Context, frame primitives.FrameID) (primitives.FrameID, string, bool, error) {
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
	for range maxReplaced {
		p, err := t.locate(ctx, parent)
		if err != nil {
			return "", "", false, cdp.Explain(err, "finding a frame's element")
		}
		if handle, ok := p.doc.FrameElement(frame); ok {
			return parent, handle, true, nil
		}
		handle, err := t.keepOwner(ctx, p, frame)
		if errors.Is(err, errStale) {
			continue
		}
		if err != nil {
			return "", "", false, cdp.Explain(err, "finding a frame's element")
		}
		p.doc.Link(frame, handle)
		return parent, handle, true, nil
	}
	return "", "", false, fault.New(fault.PageNavigated, "the parent document was replaced again and again")
}

// keepOwner asks for the element that shows frame and has the page library of
// the parent keep it.
func (t *Page) keepOwner(ctx context.Context, p place, frame primitives.FrameID) (string, error) {
	var owner struct {
		BackendNodeID int `json:"backendNodeId"`
	}
	if err := t.askIn(ctx, p.s, "DOM.getFrameOwner", cdp.Object("frameId", string(frame)), &owner); err != nil {
		if !t.HasFrame(frame) {
			return "", fault.New(fault.FrameNotFound, "the frame is not there any more")
		}
		return "", err
	}
	w := p.doc.World()
	if w == nil {
		// Any call makes the world.
		if _, err := t.invoke(ctx, p, func(string) world.Invocation { return world.Invocation{Function: `function(){}`, ByValue: true} }); err != nil {
			return "", err
		}
		if w = p.doc.World(); w == nil {
			return "", errStale
		}
	}
	params, err := json.Marshal(map[string]any{"backendNodeId": owner.BackendNodeID, "executionContextId": w.Context, "objectGroup": world.Name})
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
	remote, err := t.invoke(ctx, p, func(token string) world.Invocation {
		return world.Invocation{Function: keepFunction, Args: []string{token}, Object: node.Object.ObjectID, ByValue: true}
	})
	t.client.Post(cdp.Command{Session: p.s.ID, Method: "Runtime.releaseObject", Params: cdp.Object("objectId", node.Object.ObjectID)})
	if err != nil {
		return "", err
	}
	handle, ok := cdp.Unquote(cdp.Member(remote, "value"))
	if !ok {
		return "", fault.New(fault.Internal, "the page library gave no handle")
	}
	return string(handle), nil
}

const keepFunction = `function(t){"use strict";return globalThis.outriderWorld!==t?'` + world.StaleAnswer + `':globalThis.outrider.keep(this)}`
