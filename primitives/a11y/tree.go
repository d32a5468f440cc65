package a11y

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/locator"
	"github.com/outrider-run/outrider/primitives/quirks"
)

// axVisit is called for each exposed node in tree order. depth counts exposed
// ancestors. It returns false to stop.
type axVisit func(node primitives.AXNode, frame primitives.FrameID, depth int) bool

// walkAX visits the exposed nodes of a tab, the documents of frames below the
// nodes that show them. A frame that is detached meanwhile is left out. Ignored
// nodes add no depth, and the pieces that a line of text is broken into are
// left out: they repeat the text.
func walkAX(ctx context.Context, p primitives.Page, visit axVisit) error {
	_, err := walkAXFrame(ctx, p, "", 0, 0, visit)
	return err
}

func walkAXFrame(
	ctx context.Context, p primitives.Page, frame primitives.FrameID, depth, frames int, visit axVisit,
) (more bool, err error) {
	nodes, err := p.AXTree(ctx, frame)
	if err != nil || len(nodes) == 0 {
		return true, err
	}
	byID := make(map[string]primitives.AXNode, len(nodes))
	for _, n := range nodes {
		byID[n.ID] = n
	}
	type place struct {
		node  primitives.AXNode
		depth int
	}
	// A list of our own instead of recursion: a page can nest deeply.
	stack := []place{{nodes[0], depth}}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		delete(byID, at.node.ID) // a node that is named twice is visited once
		if at.node.Role == "InlineTextBox" {
			continue
		}
		below := at.depth
		if !at.node.Ignored {
			if !visit(at.node, frame, at.depth) {
				return false, nil
			}
			below++
		}
		for i := len(at.node.Children) - 1; i >= 0; i-- {
			if child, ok := byID[at.node.Children[i]]; ok {
				stack = append(stack, place{child, below})
			}
		}
		if at.node.Shows != "" && frames < locator.MaxFrameDepth {
			more, err := walkAXFrame(ctx, p, at.node.Shows, below, frames+1, visit)
			if err != nil && ctx.Err() != nil || err == nil && !more {
				return more, err
			}
		}
	}
	return true, nil
}

// wholeTree reports whether the tree is that of the extension.
func wholeTree(p primitives.Page) bool { return primitives.QuirksOf(p).Has(quirks.WholeAXTree) }

// eachAX visits the exposed nodes of the main document in the browser's order,
// with quirks.WholeAXTree.
func eachAX(ctx context.Context, p primitives.Page, visit axVisit) error {
	nodes, err := p.AXTree(ctx, "")
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if !n.Ignored && !visit(n, "", 0) {
			return nil
		}
	}
	return nil
}

// wholeOutline is the outline of the extension: all nodes of the main document
// are counted, and the pieces of a line of text are nodes of it.
func wholeOutline(ctx context.Context, p primitives.Page, deepest, most int) (count int, outline string, err error) {
	nodes, err := p.AXTree(ctx, "")
	if err != nil || len(nodes) == 0 {
		return 0, "", err
	}
	byID := make(map[string]primitives.AXNode, len(nodes))
	for _, n := range nodes {
		byID[n.ID] = n
	}
	type place struct {
		id    string
		depth int
	}
	var lines []string
	visited := map[string]bool{}
	stack := []place{{nodes[0].ID, 0}}
	for len(stack) > 0 && len(lines) < most {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		n, ok := byID[at.id]
		if !ok || visited[at.id] {
			continue
		}
		visited[at.id] = true
		below := at.depth
		if !n.Ignored {
			below++
			if line := wholeLine(n); line != "" {
				lines = append(lines, strings.Repeat("  ", at.depth)+line)
			}
		}
		if at.depth >= deepest {
			continue
		}
		for _, child := range slices.Backward(n.Children) {
			stack = append(stack, place{child, below})
		}
	}
	return len(byID), strings.Join(lines, "\n"), nil
}

func wholeLine(n primitives.AXNode) string {
	name, line := n.Name, n.Role
	if line == "" && name == "" {
		return ""
	}
	if line == "" {
		line = "?"
	}
	if name != "" {
		line += ` "` + cutUnits(name, maxAXName) + `"`
	}
	if n.Value != nil {
		if value := axValue(n.Value); value != "" {
			line += " = " + cutUnits(value, maxAXValue)
		}
	}
	if live, _ := n.Properties["live"].(string); live != "" && live != "off" {
		line += " [live:" + live + "]"
	}
	if focused, _ := n.Properties["focused"].(bool); focused {
		line += " [focused]"
	}
	return line
}

// cutUnits cuts a text after so many UTF-16 units, without a mark.
func cutUnits(s string, most int) string {
	units := utf16.Encode([]rune(s))
	if len(units) <= most {
		return s
	}
	return string(utf16.Decode(units[:most]))
}

type a11yTreeIn struct {
	TabID    *int `json:"tab_id"`
	MaxDepth *int `json:"max_depth"`
	MaxNodes *int `json:"max_nodes"`
}

type a11yTreeOut struct {
	URL       string `json:"url"`
	TabID     int    `json:"tab_id"`
	NodeCount int    `json:"node_count"`
	Outline   string `json:"outline"`
	Truncated bool   `json:"truncated"`
}

const (
	defaultAXDepth, defaultAXNodes = 12, 800
	maxAXName, maxAXValue          = 120, 60
)

var a11yTree = primitives.Define("a11y.tree", func(
	ctx context.Context, p primitives.Page, in a11yTreeIn,
) (a11yTreeOut, error) {
	p, err := primitives.PeerOf(p, in.TabID)
	if err != nil {
		return a11yTreeOut{}, err
	}
	deepest, most := defaultAXDepth, defaultAXNodes
	if in.MaxDepth != nil {
		deepest = *in.MaxDepth
	}
	if in.MaxNodes != nil {
		most = *in.MaxNodes
	}
	out := a11yTreeOut{}
	if wholeTree(p) {
		out.URL, out.TabID = p.Tab().URL, p.Tab().ID
		out.NodeCount, out.Outline, err = wholeOutline(ctx, p, deepest, most)
		return out, err
	}
	var b strings.Builder
	err = walkAX(ctx, p, func(n primitives.AXNode, _ primitives.FrameID, depth int) bool {
		if depth > deepest {
			out.Truncated = true
			return true
		}
		if out.NodeCount == most {
			out.Truncated = true
			return false
		}
		out.NodeCount++
		b.WriteString(strings.Repeat("  ", depth))
		b.WriteString(axLine(n))
		b.WriteByte('\n')
		return true
	})
	if err != nil {
		return a11yTreeOut{}, err
	}
	tab := p.Tab()
	out.URL = tab.URL
	out.TabID = tab.ID
	out.Outline = b.String()
	return out, nil
})

func axLine(n primitives.AXNode) string {
	role := n.Role
	if role == "" {
		role = "unknown"
	}
	line := role
	if name := oneLine(n.Name); name != "" {
		line += ` "` + primitives.CutText(name, maxAXName) + `"`
	}
	if n.Value != nil {
		if value := oneLine(axValue(n.Value)); value != "" {
			line += " = " + primitives.CutText(value, maxAXValue)
		}
	}
	if live, _ := n.Properties["live"].(string); live != "" && live != "off" {
		line += " [live:" + live + "]"
	}
	if focused, _ := n.Properties["focused"].(bool); focused {
		line += " [focused]"
	}
	return line
}

// axValue writes a value as JavaScript does: a number has an exponent only from
// 1e21 on.
func axValue(v any) string {
	if n, ok := v.(float64); ok {
		if b, err := json.Marshal(n); err == nil {
			return string(b)
		}
	}
	return fmt.Sprint(v)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
