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
// processes; only the browser knows that they belong together. Its answer
// is valid as long as the parent's document, so it is requested once.

// ChildFrame implements primitives.Page.
func (p *Page) ChildFrame(ctx context.Context, parent primitives.FrameID, handle string) (primitives.FrameID, error) {
	at, err := p.resolveFrame(ctx, parent)
	if err != nil {
		return "", cdp.Explain(err, "finding a frame")
	}
	if id, ok := at.document.ChildFrame(handle); ok && p.HasFrame(id) {
		return id, nil
	}
	remote, err := p.Run(ctx, at.id, func(token string) world.Invocation {
		return world.Invocation{Function: elementFunction, Args: []string{token, handle}}
	})
	if err != nil {
		return "", cdp.Explain(err, "finding a frame")
	}
	object := string(cdp.PlainString(cdp.Member(remote, "objectId")))
	if object == "" {
		return "", fault.New(fault.TargetNotFound, "the frame's element is detached")
	}
	id, err := p.describeFrame(ctx, at.session, object)
	if err != nil {
		return "", err
	}
	at.document.Link(id, handle)
	return id, p.awaitFrame(ctx, id)
}

const elementFunction = `function(t,h){"use strict";return globalThis.outriderWorld!==t?'` + world.StaleAnswer +
	`':globalThis.outrider.element(h)}`

func (p *Page) describeFrame(ctx context.Context, s *cdp.Session, objectID string) (primitives.FrameID, error) {
	var out struct {
		Node struct {
			FrameID primitives.FrameID `json:"frameId"`
		} `json:"node"`
	}
	err := p.doIn(ctx, s, "DOM.describeNode", cdp.Object("objectId", objectID), &out)
	p.client.Post(cdp.Command{Session: s.ID, Method: "Runtime.releaseObject", Params: cdp.Object("objectId", objectID)})
	if err != nil {
		return "", cdp.Explain(err, "finding a frame")
	}
	if out.Node.FrameID == "" {
		return "", fault.New(fault.FrameNotFound, "the element shows no frame")
	}
	return out.Node.FrameID, nil
}

// awaitFrame waits until a frame that the browser named has reported itself.
func (p *Page) awaitFrame(ctx context.Context, id primitives.FrameID) error {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	for {
		changed := p.change.Wait()
		if p.HasFrame(id) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return cdp.Explain(ctx.Err(), "finding a frame")
		case <-timer.C:
			return fault.New(fault.FrameNotFound, "the frame is detached")
		}
	}
}

// HasFrame reports whether the page has a frame.
func (p *Page) HasFrame(id primitives.FrameID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.frames[id] != nil
}

// OwnerFrame implements primitives.Page.
func (p *Page) OwnerFrame(ctx context.Context, frame primitives.FrameID) (primitives.FrameID, string, bool, error) {
	p.mu.Lock()
	f := p.frames[frame]
	if frame == "" || frame == p.main {
		p.mu.Unlock()
		return "", "", false, nil
	}
	if f == nil {
		p.mu.Unlock()
		return "", "", false, fault.New(fault.FrameNotFound, "the frame is detached")
	}
	parent := f.parent
	p.mu.Unlock()
	for range maxFollowed {
		at, err := p.resolveFrame(ctx, parent)
		if err != nil {
			return "", "", false, cdp.Explain(err, "finding a frame's element")
		}
		if handle, ok := at.document.FrameElement(frame); ok {
			return parent, handle, true, nil
		}
		handle, err := p.keepFrameElement(ctx, at, frame)
		if errors.Is(err, errStale) {
			continue
		}
		if err != nil {
			return "", "", false, cdp.Explain(err, "finding a frame's element")
		}
		at.document.Link(frame, handle)
		return parent, handle, true, nil
	}
	return "", "", false, fault.New(fault.PageNavigated, "the parent document was replaced again and again")
}

// keepFrameElement resolves the element that shows frame and has the page library of
// the parent keep it.
func (p *Page) keepFrameElement(ctx context.Context, at resolvedFrame, frame primitives.FrameID) (string, error) {
	var owner struct {
		BackendNodeID int `json:"backendNodeId"`
	}
	if err := p.doIn(ctx, at.session, "DOM.getFrameOwner", cdp.Object("frameId", string(frame)), &owner); err != nil {
		if !p.HasFrame(frame) {
			return "", fault.New(fault.FrameNotFound, "the frame is detached")
		}
		return "", err
	}
	w := at.document.World()
	if w == nil {
		// Any call makes the world.
		if _, err := p.invoke(ctx, at, func(string) world.Invocation {
			return world.Invocation{Function: `function(){}`, ByValue: true}
		}); err != nil {
			return "", err
		}
		w = at.document.World()
		if w == nil {
			return "", errStale
		}
	}
	params, err := json.Marshal(map[string]any{
		"backendNodeId":      owner.BackendNodeID,
		"executionContextId": w.Context,
		"objectGroup":        world.Name,
	})
	if err != nil {
		return "", err
	}
	var node struct {
		Object struct {
			ObjectID string `json:"objectId"`
		} `json:"object"`
	}
	if err := p.doIn(ctx, at.session, "DOM.resolveNode", params, &node); err != nil {
		return "", p.classify(ctx, at, err)
	}
	remote, err := p.invoke(ctx, at, func(token string) world.Invocation {
		return world.Invocation{
			Function: keepFunction,
			Args:     []string{token},
			Object:   node.Object.ObjectID,
			ByValue:  true,
		}
	})
	p.client.Post(cdp.Command{
		Session: at.session.ID,
		Method:  "Runtime.releaseObject",
		Params:  cdp.Object("objectId", node.Object.ObjectID),
	})
	if err != nil {
		return "", err
	}
	handle, ok := cdp.Unquote(cdp.Member(remote, "value"))
	if !ok {
		return "", fault.New(fault.Internal, "the page library gave no handle")
	}
	return string(handle), nil
}

const keepFunction = `function(t){"use strict";return globalThis.outriderWorld!==t?'` + world.StaleAnswer +
	`':globalThis.outrider.keep(this)}`
