package runtime

import (
	"encoding/json"

	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/sitetool"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/primitives/upstream"
)

// announcedManifest is the map that a runtime announces (Actions Bridge Protocol, "Announcement"), with the
// primitives that a client of the profile may call.
func announcedManifest(reg *primitives.Registry, profile quirks.Set) json.RawMessage {
	type entry struct {
		Name         string          `json:"name"`
		Version      int             `json:"version"`
		Support      string          `json:"support"`
		Class        string          `json:"capability_class"`
		Portable     bool            `json:"portable"`
		Capabilities []string        `json:"capabilities"`
		Summary      string          `json:"summary"`
		InputSchema  json.RawMessage `json:"input_schema"`
	}
	list := []entry{}
	for _, r := range reg.Records() {
		if profile.Has(quirks.UpstreamVocabulary) && !upstream.Has(r.Name) {
			continue
		}
		list = append(list, entry{
			r.Name, r.Version, r.Adapters[primitives.Adapter].Support,
			r.Class, r.Portable, r.Capabilities, r.Summary, r.InputSchema,
		})
	}
	out, err := json.Marshal(map[string]any{
		"protocol": "actions.json",
		"version":  1,
		"primitive_dictionary": map[string]any{
			"version": 1, "stage": 1, "primitives": list,
		},
		"tools": []map[string]any{{
			"name":         call.SiteTool,
			"description":  sitetool.Description,
			"input_schema": json.RawMessage(sitetool.Schema),
		}},
	})
	if err != nil {
		return json.RawMessage(`{"protocol":"actions.json","version":1,"tools":[]}`)
	}
	return out
}
