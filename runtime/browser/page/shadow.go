package page

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/world"
)

// OpenShadows implements primitives.Page. Only the browser can look into a
// closed shadow root; it hands the root over to our world, where the page cannot
// see that we have it. Only the browser knows, too, what a custom element declares
// through its ElementInternals. For a handle that begins with a question
// mark the accessibility tree is read.
func (p *Page) OpenShadows(ctx context.Context, frame primitives.FrameID, handles []string) (opened int, err error) {
	if err := p.Admit(ctx, frame); err != nil {
		return 0, err
	}
	at, err := p.resolveFrame(ctx, frame)
	if err != nil {
		return 0, cdp.Explain(err, "opening a shadow root")
	}
	var (
		wg sync.WaitGroup
		mu sync.Mutex
	)
	for _, handle := range handles {
		wg.Go(func() {
			n, e := p.openShadow(ctx, at, handle)
			mu.Lock()
			defer mu.Unlock()
			opened += n
			if e != nil && err == nil {
				err = e
			}
		})
	}
	wg.Wait()
	return opened, cdp.Explain(err, "opening a shadow root")
}

func (p *Page) openShadow(ctx context.Context, at resolvedFrame, handle string) (int, error) {
	handle, describe := strings.CutPrefix(handle, "?")
	w := at.document.World()
	if w == nil {
		return 0, nil // the document that knew the handle was replaced
	}
	remote, err := p.invoke(ctx, at, func(token string) world.Invocation {
		return world.Invocation{Function: elementFunction, Args: []string{token, handle}}
	})
	if err != nil {
		return 0, unlessReplaced(err)
	}
	element := string(cdp.PlainString(cdp.Member(remote, "objectId")))
	if element == "" {
		return 0, nil
	}
	defer p.client.Post(cdp.Command{
		Session: at.session.ID,
		Method:  "Runtime.releaseObject",
		Params:  objectParam(element),
	})
	var described struct {
		Node struct {
			BackendNodeID int `json:"backendNodeId"`
			ShadowRoots   []struct {
				BackendNodeID  int    `json:"backendNodeId"`
				ShadowRootType string `json:"shadowRootType"`
			} `json:"shadowRoots"`
		} `json:"node"`
	}
	if err := p.doPage(ctx, at, "DOM.describeNode", map[string]any{"objectId": element}, &described); err != nil {
		return 0, unlessReplaced(p.classify(ctx, at, err))
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
		params := map[string]any{
			"backendNodeId":      root.BackendNodeID,
			"executionContextId": w.Context,
			"objectGroup":        world.Name,
		}
		if err := p.doPage(ctx, at, "DOM.resolveNode", params, &node); err != nil {
			return opened, unlessReplaced(p.classify(ctx, at, err))
		}
		_, err := p.invoke(ctx, at, func(token string) world.Invocation {
			return world.Invocation{
				Function: adoptShadowFunction,
				Args:     []string{token},
				Object:   node.Object.ObjectID,
				ByValue:  true,
			}
		})
		p.client.Post(cdp.Command{
			Session: at.session.ID,
			Method:  "Runtime.releaseObject",
			Params:  objectParam(node.Object.ObjectID),
		})
		if err != nil {
			return opened, unlessReplaced(err)
		}
		opened++
	}
	if !describe {
		return opened, nil
	}
	richer, err := p.describeComponent(ctx, at, handle, element, described.Node.BackendNodeID)
	if richer {
		opened++
	}
	return opened, err
}

// describeComponent gives the page library what the accessibility tree has of a
// custom element, and answers whether that was more than its attributes do.
func (p *Page) describeComponent(
	ctx context.Context, at resolvedFrame, handle, element string, backend int,
) (bool, error) {
	var tree struct {
		Nodes []struct {
			axNode
			Reasons []struct {
				Name string `json:"name"`
			} `json:"ignoredReasons"`
		} `json:"nodes"`
	}
	if err := p.doPage(
		ctx, at, "Accessibility.getPartialAXTree", map[string]any{"objectId": element, "fetchRelatives": false}, &tree,
	); err != nil {
		return false, unlessReplaced(p.classify(ctx, at, err))
	}
	for _, n := range tree.Nodes {
		if n.Backend != backend {
			continue
		}
		component := map[string]any{"role": n.Role.text(), "name": n.Name.text(), "ignored": n.Ignored}
		if n.Value != nil {
			component["value"] = n.Value.Value
		}
		states := map[string]any{}
		for _, prop := range n.Properties {
			states[prop.Name] = prop.Value.Value
		}
		component["states"] = states
		// An element without information is ignored as uninteresting; any other reason can pass.
		component["unseen"] = n.Ignored && !slices.ContainsFunc(n.Reasons, func(r struct {
			Name string `json:"name"`
		}) bool {
			return r.Name == "uninteresting" || r.Name == "presentationalRole" || r.Name == "emptyAlt"
		})
		about, err := json.Marshal(component)
		if err != nil {
			return false, fault.Wrap(fault.Internal, err, "encoding the description of a component")
		}
		remote, err := p.invoke(ctx, at, func(token string) world.Invocation {
			return world.Invocation{
				Function: describeComponentFunction,
				Args:     []string{token, handle, string(about)},
				ByValue:  true,
			}
		})
		if err != nil {
			return false, unlessReplaced(err)
		}
		return string(cdp.Member(remote, "value")) == "true", nil
	}
	return false, nil
}

const describeComponentFunction = `function(t,h,s){"use strict";return globalThis.outriderWorld!==t?'` +
	world.StaleAnswer + `':globalThis.outrider.describe(h,JSON.parse(s))}`

// unlessReplaced drops the error of a document that was replaced:
// nothing is left to open.
func unlessReplaced(err error) error {
	if errors.Is(err, errStale) {
		return nil
	}
	return err
}

const adoptShadowFunction = `function(t){"use strict";return globalThis.outriderWorld!==t?'` + world.StaleAnswer +
	`':globalThis.outrider.adopt(this)}`
