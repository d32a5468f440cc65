package a11y

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/locator"
)

type a11yQueryIn struct {
	TabID        *int    `json:"tab_id"`
	Role         *string `json:"role"`
	Name         *string `json:"name"`
	NameContains *string `json:"name_contains"`
}

// a11yMissed is the answer when nothing matches, which is no failure.
type a11yMissed struct {
	Found bool    `json:"found"`
	Role  *string `json:"role"`
	Name  *string `json:"name"`
}

type a11yFound struct {
	Found          bool            `json:"found"`
	Role           string          `json:"role"`
	Name           string          `json:"name"`
	Value          any             `json:"value"`
	State          map[string]bool `json:"state"`
	BackendNodeID  *int            `json:"backend_dom_node_id"`
	CandidateCount int             `json:"candidate_count"`
	a11yAttested
}

// a11yAttested is the page library's answer about a node's middle.
type a11yAttested struct {
	VisibleCenter   *primitives.Point `json:"visible_center"`
	VisibleRect     json.RawMessage   `json:"visible_rect"`
	Clickable       bool              `json:"clickable"`
	ReceivesEvents  *bool             `json:"receives_events"`
	Attested        bool              `json:"actionability_attested"`
	OccludedBy      json.RawMessage   `json:"occluded_by"`
	ClickableCenter *primitives.Point `json:"clickable_center,omitempty"`
}

// a11yQuery finds by role and name in the browser's own tree. A page call then
// hit-tests what it found, since the tree does not know what lies over an element.
var a11yQuery = primitives.Define("a11y.query", func(
	ctx context.Context, p primitives.Page, in a11yQueryIn,
) (any, error) {
	p, err := primitives.PeerOf(p, in.TabID)
	if err != nil {
		return nil, err
	}
	var node primitives.AXNode
	var frame primitives.FrameID
	count := 0
	if in.Role != nil || in.Name != nil || in.NameContains != nil {
		walk := walkAX
		if wholeTree(p) {
			walk = eachAX
		}
		err = walk(ctx, p, func(n primitives.AXNode, at primitives.FrameID, _ int) bool {
			if in.matches(n) {
				if count++; count == 1 {
					node, frame = n, at
				}
			}
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	if count == 0 {
		name := in.Name
		if name == nil {
			name = in.NameContains
		}
		return a11yMissed{Role: in.Role, Name: name}, nil
	}
	out := a11yFound{Found: true, Role: node.Role, Name: node.Name, State: axState(node), CandidateCount: count}
	switch node.Value.(type) {
	case string, float64:
		out.Value = node.Value
	}
	if node.DOMNode != 0 {
		out.BackendNodeID = &node.DOMNode
		out.a11yAttested, err = attest(ctx, p, frame, node.DOMNode)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
})

func (in a11yQueryIn) matches(n primitives.AXNode) bool {
	if in.Role != nil && n.Role != *in.Role || in.Name != nil && n.Name != *in.Name {
		return false
	}
	return in.NameContains == nil || strings.Contains(n.Name, *in.NameContains)
}

func axState(n primitives.AXNode) map[string]bool {
	state := map[string]bool{}
	for name, v := range n.Properties {
		if b, ok := v.(bool); ok {
			state[name] = b
			if name == "hidden" {
				state["invisible"] = b
			}
		}
	}
	return state
}

// attest queries whether a click at the middle of a node hits it. A node that
// was detached after the tree was read, or has no box, gives an attestation that
// says so.
func attest(ctx context.Context, p primitives.Page, frame primitives.FrameID, domNode int) (a11yAttested, error) {
	none := a11yAttested{}
	at, err := locator.PlaceOfFrame(ctx, p, frame)
	if err != nil {
		return none, unlessDetached(err)
	}
	handle, err := p.ResolveNode(ctx, frame, domNode)
	if err != nil {
		return none, unlessDetached(err)
	}
	args := map[string]any{"handle": handle}
	if at.View != nil {
		args["view"] = at.View
	}
	var out a11yAttested
	if err := p.Call(ctx, frame, "attest", args, &out); err != nil {
		return none, unlessDetached(err)
	}
	if !out.Clickable || out.ClickableCenter == nil {
		return out, nil
	}
	reached, occluder, err := at.HitTest(ctx, p, out.ClickableCenter.X, out.ClickableCenter.Y)
	if err != nil {
		return none, unlessDetached(err)
	}
	if !reached {
		no := false
		out.Clickable = false
		out.ReceivesEvents = &no
		out.ClickableCenter = nil
		out.OccludedBy = briefOccluder(occluder)
	}
	return out, nil
}

// briefOccluder is the form of this primitive for what a frame is covered by.
func briefOccluder(raw json.RawMessage) json.RawMessage {
	var over *struct {
		TagName string `json:"tag_name"`
		Label   string `json:"target_label"`
	}
	if json.Unmarshal(raw, &over) != nil || over == nil {
		return nil
	}
	b, err := json.Marshal(map[string]any{"tag_name": over.TagName, "id": nil, "text": ""})
	if err != nil {
		return nil
	}
	return b
}

func unlessDetached(err error) error {
	switch fault.CodeOf(err) {
	case fault.TargetNotFound, fault.FrameNotFound, fault.FrameCrossOrigin:
		return nil
	}
	return err
}
