package browser

import (
	"context"
	"errors"
	"sync"

	"github.com/outrider-run/outrider/primitives"
)

// OpenShadows implements primitives.Page. Only the browser can look into a
// closed shadow root; it hands the root over to our world, where the page cannot
// see that we have it.
func (t *Tab) OpenShadows(ctx context.Context, frame primitives.FrameID, handles []string) (opened int, err error) {
	p, err := t.locate(ctx, frame)
	if err != nil {
		return 0, t.b.explain(err, "opening a shadow root")
	}
	var (
		wg sync.WaitGroup
		mu sync.Mutex
	)
	for _, handle := range handles {
		wg.Go(func() {
			n, e := t.openShadow(ctx, p, handle)
			mu.Lock()
			defer mu.Unlock()
			opened += n
			if e != nil && err == nil {
				err = e
			}
		})
	}
	wg.Wait()
	return opened, t.b.explain(err, "opening a shadow root")
}

func (t *Tab) openShadow(ctx context.Context, p place, handle string) (int, error) {
	w := p.doc.current()
	if w == nil {
		return 0, nil // the document that knew the handle is gone
	}
	remote, err := t.invoke(ctx, p, func(token string) invocation {
		return invocation{function: elementFunction, args: []string{token, handle}}
	})
	if err != nil {
		return 0, unlessReplaced(err)
	}
	element := string(plainString(member(remote, "objectId")))
	if element == "" {
		return 0, nil
	}
	defer t.b.c.post(command{session: p.s.id, method: "Runtime.releaseObject", params: objectParam(element)})
	var described struct {
		Node struct {
			ShadowRoots []struct {
				BackendNodeID  int    `json:"backendNodeId"`
				ShadowRootType string `json:"shadowRootType"`
			} `json:"shadowRoots"`
		} `json:"node"`
	}
	if err := t.askPage(ctx, p, "DOM.describeNode", map[string]any{"objectId": element}, &described); err != nil {
		return 0, unlessReplaced(t.classify(ctx, p, err))
	}
	opened := 0
	for _, root := range described.Node.ShadowRoots {
		if root.ShadowRootType != "closed" {
			continue
		}
		var node struct {
			Object struct {
				ObjectID string `json:"objectId"`
			} `json:"object"`
		}
		params := map[string]any{"backendNodeId": root.BackendNodeID, "executionContextId": w.context, "objectGroup": worldName}
		if err := t.askPage(ctx, p, "DOM.resolveNode", params, &node); err != nil {
			return opened, unlessReplaced(t.classify(ctx, p, err))
		}
		_, err := t.invoke(ctx, p, func(token string) invocation {
			return invocation{function: adoptFunction, args: []string{token}, object: node.Object.ObjectID, byValue: true}
		})
		t.b.c.post(command{session: p.s.id, method: "Runtime.releaseObject", params: objectParam(node.Object.ObjectID)})
		if err != nil {
			return opened, unlessReplaced(err)
		}
		opened++
	}
	return opened, nil
}

// unlessReplaced drops the error of a document that is not there any more:
// nothing is left to open.
func unlessReplaced(err error) error {
	if errors.Is(err, errStale) {
		return nil
	}
	return err
}

const adoptFunction = `function(t){"use strict";return globalThis.outriderWorld!==t?'` + staleAnswer + `':globalThis.outrider.adopt(this)}`
