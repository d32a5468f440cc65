package page

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/world"
)

type axValue struct {
	Type  string `json:"type"`
	Value any    `json:"value"`
}

type axNode struct {
	NodeID   string   `json:"nodeId"`
	Ignored  bool     `json:"ignored"`
	Role     *axValue `json:"role"`
	Name     *axValue `json:"name"`
	Value    *axValue `json:"value"`
	Children []string `json:"childIds"`
	Backend  int      `json:"backendDOMNodeId"`

	Properties []struct {
		Name  string  `json:"name"`
		Value axValue `json:"value"`
	} `json:"properties"`
}

// AXTree implements primitives.Page. The browser keeps the tree only while it
// is read: nothing stays switched on.
func (p *Page) AXTree(ctx context.Context, frame primitives.FrameID) ([]primitives.AXNode, error) {
	if err := p.Admit(ctx, frame); err != nil {
		return nil, err
	}
	nodes, err := p.axTree(ctx, frame)
	if err == nil { // the browser does not say which document it has read
		err = p.Admit(ctx, frame)
	}
	return nodes, err
}

func (p *Page) axTree(ctx context.Context, frame primitives.FrameID) ([]primitives.AXNode, error) {
	at, err := p.resolveFrame(ctx, frame)
	if err != nil {
		return nil, cdp.Explain(err, "reading the accessibility tree")
	}
	var out struct {
		Nodes []axNode `json:"nodes"`
	}
	if err := p.doPage(
		ctx, at, "Accessibility.getFullAXTree", map[string]any{"frameId": string(at.id)}, &out,
	); err != nil {
		return nil, cdp.Explain(err, "reading the accessibility tree")
	}
	shown := map[int]primitives.FrameID{}
	for _, f := range p.Frames() {
		if f.Parent != at.id || f.ID == at.id {
			continue
		}
		var owner struct {
			BackendNodeID int `json:"backendNodeId"`
		}
		if err := p.doPage(ctx, at, "DOM.getFrameOwner", map[string]any{"frameId": string(f.ID)}, &owner); err != nil {
			if ctx.Err() != nil {
				return nil, cdp.Explain(err, "reading the accessibility tree")
			}
			continue // the frame was removed
		}
		shown[owner.BackendNodeID] = f.ID
	}
	nodes := make([]primitives.AXNode, len(out.Nodes))
	for i, n := range out.Nodes {
		node := primitives.AXNode{
			ID:       n.NodeID,
			Ignored:  n.Ignored,
			Role:     n.Role.text(),
			Name:     n.Name.text(),
			Children: n.Children,
			DOMNode:  n.Backend,
			Shows:    shown[n.Backend],
		}
		if n.Value != nil && n.Value.Value != nil {
			node.Value = n.Value.Value
		}
		for _, prop := range n.Properties {
			if node.Properties == nil {
				node.Properties = map[string]any{}
			}
			node.Properties[prop.Name] = prop.Value.Value
		}
		nodes[i] = node
	}
	return nodes, nil
}

func (v *axValue) text() string {
	if v == nil {
		return ""
	}
	s, _ := v.Value.(string)
	return s
}

// ResolveNode implements primitives.Page.
func (p *Page) ResolveNode(ctx context.Context, frame primitives.FrameID, domNode int) (string, error) {
	if err := p.Admit(ctx, frame); err != nil {
		return "", err
	}
	for range maxFollowed {
		at, err := p.resolveFrame(ctx, frame)
		if err != nil {
			return "", cdp.Explain(err, "finding a node")
		}
		handle, err := p.keepNode(ctx, at, domNode)
		if errors.Is(err, errStale) {
			continue
		}
		return handle, cdp.Explain(err, "finding a node")
	}
	return "", fault.New(fault.PageNavigated, "the document was replaced again and again")
}

func (p *Page) keepNode(ctx context.Context, at resolvedFrame, domNode int) (string, error) {
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
	var node struct {
		Object struct {
			ObjectID string `json:"objectId"`
		} `json:"object"`
	}
	params := map[string]any{"backendNodeId": domNode, "executionContextId": w.Context, "objectGroup": world.Name}
	if err := p.doPage(ctx, at, "DOM.resolveNode", params, &node); err != nil {
		if pe, ok := cdp.Message(err); ok && pe == "No node with given id found" {
			return "", fault.New(fault.TargetNotFound, "the node is detached")
		}
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
		Params:  objectParam(node.Object.ObjectID),
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

// doPage sends one command to the session of a frame, and waits no longer than
// a dialog lets the page answer.
func (p *Page) doPage(ctx context.Context, at resolvedFrame, method string, params, out any) error {
	cmd, err := cdp.NewCommand(at.session.ID, method, params)
	if err != nil {
		return err
	}
	calls, err := p.client.Start(ctx, cmd)
	if err != nil {
		return err
	}
	result, err := p.awaitPage(ctx, at, calls[0])
	if err != nil {
		return err
	}
	if err := json.Unmarshal(result, out); err != nil {
		return fault.Wrap(fault.Internal, err, "reading the answer to %s", method)
	}
	return nil
}
