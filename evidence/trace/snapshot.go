package trace

import (
	"encoding/json"
	"strconv"

	"github.com/outrider-run/outrider/evidence/record"
)

// snapshot adds the document of a frame, with the target marked, and for the state in which the action
// finds it once more with the point.
func (e *export) snapshot(ev record.Event, r *row, s record.Snapshot) {
	raw, err := e.from.Data(s.Resource)
	if err != nil {
		return
	}
	var root any
	if json.Unmarshal(raw, &root) != nil {
		return
	}
	t := r.step.Target
	here := t != nil && (t.Frame == s.Frame || t.Frame == "" && s.Main)
	if here && len(t.Path) > 0 && s.Phase == "before" {
		mark(root, t.Path, "__playwright_target__", r.id)
	}
	frames(root, s.Frames)
	add := func(name, phase string) {
		e.line(&e.trace, map[string]any{"type": "frame-snapshot", "snapshot": map[string]any{
			"callId":            r.id,
			"snapshotName":      name + "@" + r.id,
			"pageId":            page(ev.Tab),
			"frameId":           s.Frame,
			"frameUrl":          s.URL,
			"timestamp":         zero + ev.T,
			"wallTime":          e.wall(ev.T),
			"collectionTime":    0,
			"doctype":           s.Doctype,
			"html":              root,
			"resourceOverrides": []any{},
			"viewport":          s.Size,
			"isMainFrame":       s.Main,
		}})
	}
	add(s.Phase, s.Phase)
	if s.Phase == "before" {
		if s.Main {
			input := map[string]any{"type": "input", "callId": r.id, "inputSnapshot": "input@" + r.id}
			if t != nil && t.Point != nil {
				input["point"] = t.Point
			}
			e.line(&e.trace, input)
		}
		add("input", "action")
	}
}

// mark sets an attribute of the node that a path leads to.
func mark(root any, path []int, name, value string) {
	at := root
	for _, place := range path {
		node, ok := at.([]any)
		if !ok || place < 0 || len(node) < place+3 {
			return
		}
		at = node[place+2]
	}
	if node, ok := at.([]any); ok && len(node) > 1 {
		if attributes, ok := node[1].(map[string]any); ok {
			attributes[name] = value
		}
	}
}

// frames puts the snapshots of frames in place of their addresses.
func frames(root any, ids []string) {
	node, ok := root.([]any)
	if !ok || len(node) < 2 {
		return
	}
	if attributes, ok := node[1].(map[string]any); ok {
		if text, ok := attributes["__outrider_frame__"].(string); ok {
			delete(attributes, "__outrider_frame__")
			if i, err := strconv.Atoi(text); err == nil && i < len(ids) && ids[i] != "" {
				attributes["src"] = "/snapshot/" + ids[i]
			}
		}
	}
	for _, child := range node[2:] {
		frames(child, ids)
	}
}
