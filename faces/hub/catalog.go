package hub

import (
	"cmp"
	"encoding/json"
	"slices"
)

// Tool is one row of the catalog.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

const siteTool = "actions.site"

// siteSchema describes actions.site when no connected runtime does.
const siteSchema = `{"type":"object","required":["mode"],"properties":{` +
	`"mode":{"type":"string","enum":["list","call","state_read","state_summary","state_diff"]},` +
	`"action":{"type":"string"},"arguments":{"type":"object"},"projection_name":{"type":"string"},` +
	`"summary_name":{"type":"string"},"max_bytes":{"type":"integer","minimum":1},"timeout_ms":{"type":"integer",` +
	`"minimum":1}}}`

// routing are the properties every tool gets.
var routing = map[string]json.RawMessage{
	"target_runtime_id": json.RawMessage(
		`{"type":"string","description":"exact id of the runtime that runs the call"}`,
	),
	"target_runtime_key": json.RawMessage(
		`{"type":"string","description":"exact key of the tab that runs the call"}`,
	),
	"target_url_contains": json.RawMessage(
		`{"type":"string","description":"part of the URL of the tab that runs the call"}`,
	),
	"target_title_contains": json.RawMessage(
		`{"type":"string","description":"part of the title of the tab that runs the call"}`,
	),
}

// manifestTools returns the tools of a manifest: its tools, then the primitives
// of its dictionary. Nil means that the manifest has none.
func manifestTools(manifest json.RawMessage) []Tool {
	var m struct {
		Tools      []Tool `json:"tools"`
		Dictionary struct {
			Primitives []struct {
				Tool
				Summary string `json:"summary"`
				Support string `json:"support"`
			} `json:"primitives"`
		} `json:"primitive_dictionary"`
	}
	if len(manifest) == 0 || json.Unmarshal(manifest, &m) != nil {
		return nil
	}
	out := m.Tools
	for _, p := range m.Dictionary.Primitives {
		if p.Support == "unsupported" {
			continue
		}
		p.Description = cmp.Or(p.Description, p.Summary)
		out = append(out, p.Tool)
	}
	return slices.DeleteFunc(out, func(t Tool) bool { return t.Name == "" })
}

// Tools returns the catalog: actions.site, the tools the hub answers itself,
// then what the connected runtimes offer, by name. Where two runtimes describe
// a tool differently the one that connected first is shown.
func (h *Hub) Tools() []Tool {
	h.mu.Lock()
	defer h.mu.Unlock()
	found := map[string]Tool{}
	for _, e := range h.live() {
		for _, t := range e.tools {
			if _, ok := found[t.Name]; !ok {
				found[t.Name] = t
			}
		}
	}
	site, ok := found[siteTool]
	if !ok {
		site = Tool{
			siteTool, "List the actions of the current site, call one of them, or read the page's declared state.",
			json.RawMessage(siteSchema),
		}
	}
	out := []Tool{site, claimedTabs, activeTab, awaitEvent}
	if h.opts.StorageRoot != "" {
		out = append(out, syncStorage)
	}
	if _, ok := found[readFileTool]; !ok && h.storage != nil {
		out = append(out, readStored)
	}
	if h.payloads != nil {
		out = append(out, configurePayloads)
	}
	for _, t := range out {
		delete(found, t.Name)
	}
	rest := make([]Tool, 0, len(found))
	for _, t := range found {
		rest = append(rest, t)
	}
	slices.SortFunc(rest, func(a, b Tool) int { return cmp.Compare(a.Name, b.Name) })
	out = append(out, rest...)
	for i := range out {
		if h.own(out[i].Name) == nil {
			out[i].InputSchema = withRouting(out[i].InputSchema)
		}
	}
	return out
}

// withRouting adds the routing properties to a schema of an object.
func withRouting(schema json.RawMessage) json.RawMessage {
	var s map[string]json.RawMessage
	if json.Unmarshal(schema, &s) != nil || s == nil {
		s = map[string]json.RawMessage{"type": json.RawMessage(`"object"`)}
	}
	var props map[string]json.RawMessage
	if json.Unmarshal(s["properties"], &props) != nil || props == nil {
		props = map[string]json.RawMessage{}
	}
	for k, v := range routing {
		if _, ok := props[k]; !ok {
			props[k] = v
		}
	}
	s["properties"] = marshal(props)
	return marshal(s)
}

// declares reports whether a connected runtime describes tool with a property
// of this name. actions.site's timeout_ms is the time of the call, so it does
// not count.
func (h *Hub) declares(tool, property string) bool {
	if tool == siteTool {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.runtimes {
		for _, t := range e.tools {
			if t.Name != tool {
				continue
			}
			var s struct {
				Properties map[string]json.RawMessage `json:"properties"`
			}
			if json.Unmarshal(t.InputSchema, &s) == nil && s.Properties[property] != nil {
				return true
			}
		}
	}
	return false
}
