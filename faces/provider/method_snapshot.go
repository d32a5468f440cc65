package provider

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
)

// actionable are the roles that take a click, a key or text.
var actionable = map[string]bool{
	"button": true, "link": true, "textbox": true, "searchbox": true, "combobox": true,
	"listbox": true, "option": true, "checkbox": true, "radio": true,
	"switch": true, "slider": true, "spinbutton": true, "menuitem": true,
	"menuitemcheckbox": true, "menuitemradio": true, "tab": true, "treeitem": true,
	"scrollbar": true, "input": true,
}

// defaultNodes is max_nodes where it is not given.
const defaultNodes = 500

// row is a node as the primitive answers it: a flat list with depths. Further
// members are states.
type row map[string]any

func (n row) text(member string) string { s, _ := n[member].(string); return s }

func (n row) actionable() bool {
	clickable, _ := n["clickable"].(bool)
	draggable, _ := n["draggable"].(bool)
	return n.text("ref") != "" && (clickable || draggable || actionable[n.text("role")])
}

// state is the state of a node beyond the members of the format.
func (n row) state() map[string]any {
	out := map[string]any{}
	for name, value := range n {
		switch name {
		case "depth", "role", "name", "text", "ref", "clickable", "hint":
		default:
			out[name] = value
		}
	}
	return out
}

// snapshotPage answers what is on a page.
func snapshotPage(ctx context.Context, r *request) (any, *Failure) {
	in := struct {
		Screenshot bool  `json:"include_screenshot"`
		HTML       bool  `json:"include_html"`
		DOM        bool  `json:"include_dom"`
		Text       *bool `json:"include_text"`
		MaxNodes   int   `json:"max_nodes"`
	}{MaxNodes: defaultNodes}
	if failure := r.decode(&in); failure != nil {
		return nil, failure
	}
	var seen struct {
		URL       string `json:"url"`
		Title     string `json:"title"`
		Nodes     []row  `json:"nodes"`
		Truncated bool   `json:"truncated"`
		Missed    []any  `json:"missed_frames"`
	}
	reply, err := r.do(
		ctx, "page.snapshot",
		map[string]any{"format": "json", "max_nodes": in.MaxNodes, "max_bytes": 4_000_000, "urls": true, "hints": true},
		&seen,
	)
	if err != nil {
		return nil, r.failed(err)
	}
	if seen.Truncated {
		r.warn("snapshot_truncated", "there are more nodes than max_nodes")
	}
	if len(seen.Missed) > 0 {
		r.warn("frames_missed", strconv.Itoa(len(seen.Missed))+" frames did not answer")
	}
	if in.HTML {
		r.warn("html_unavailable", "this provider reports pages as accessibility trees, not as HTML")
	}
	if in.DOM {
		r.warn("dom_unavailable", "this provider reports pages as accessibility trees, not as DOM trees")
	}
	snapshot, elements := tree(seen.Title, seen.Nodes)
	out := r.about(reply, map[string]any{"title": seen.Title, "snapshot": snapshot, "elements": elements, "text": ""})
	out["url"] = seen.URL
	if in.Text == nil || *in.Text {
		var read struct {
			Text      string         `json:"text"`
			Truncated map[string]any `json:"truncated"`
		}
		if _, err := r.do(
			ctx, "page.extract", map[string]any{"formats": []string{"text"}, "max_bytes": 200_000}, &read,
		); err != nil {
			return nil, r.failed(err)
		}
		out["text"] = read.Text
		if len(read.Truncated) > 0 {
			r.warn("text_truncated", "the text is longer than 200000 bytes")
		}
	}
	if in.Screenshot {
		shot, failure := r.capture(ctx, captureIn{})
		if failure != nil {
			return nil, failure
		}
		out["screenshot_ref"] = "data:" + shot.mediaType + ";base64," + shot.base64
	}
	return out, nil
}

// tree turns the flat list with depths into nodes that know their children, and
// gives the list of what can be acted on.
func tree(title string, rows []row) (Snapshot, []Element) {
	s := Snapshot{
		Format: PageSnapshotFormat,
		Root:   Node{NodeID: "n1", Role: "document", Name: title, Children: []string{}},
		Nodes:  make([]Node, len(rows)),
	}
	elements := []Element{}
	type open struct{ depth, node int } // node -1 is the root
	path := []open{{-1, -1}}
	for i, n := range rows {
		depth := depthOf(n["depth"])
		for len(path) > 1 && path[len(path)-1].depth >= depth {
			path = path[:len(path)-1]
		}
		node := Node{
			NodeID:     "n" + strconv.Itoa(i+2),
			Role:       n.text("role"),
			Name:       n.text("name"),
			Text:       cmp.Or(n.text("text"), n.text("name")),
			ElementRef: n.text("ref"),
			Actionable: n.actionable(),
			State:      n.state(),
		}
		if len(node.State) == 0 {
			node.State = nil
		}
		s.Nodes[i] = node
		if parent := path[len(path)-1].node; parent < 0 {
			s.Root.Children = append(s.Root.Children, node.NodeID)
		} else {
			s.Nodes[parent].Children = append(s.Nodes[parent].Children, node.NodeID)
		}
		path = append(path, open{depth, i})
		if node.Actionable {
			disabled, _ := n["disabled"].(bool)
			elements = append(elements, Element{
				node.ElementRef, node.Role, node.Name, node.Text, true, !disabled, node.State, n.text("hint"),
			})
		}
	}
	return s, elements
}

func depthOf(v any) int {
	n, _ := v.(json.Number)
	d, _ := n.Int64() // 0 for none
	return int(d)
}
