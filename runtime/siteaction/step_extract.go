package siteaction

import (
	"encoding/json"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/call"
)

// readable says how a property of an element is read: an attribute of
// browser.extract_elements, which reads text, href, src and currentSrc as
// properties; "" for the ways of one element alone.
var readable = map[string]string{
	"":            "text",
	"text":        "text",
	"innerText":   "text",
	"textContent": "text",
	"href":        "href",
	"src":         "src",
	"currentSrc":  "currentSrc",
	"value":       "",
	"checked":     "",
}

// extract reads text, a value, an attribute, or with many or fields a list.
func (r *executionRun) extract(s *plannedStep) (json.RawMessage, *fault.Error) {
	many := s.Many != nil && *s.Many
	f, err := r.find(s, false)
	if err != nil {
		if many && err.Code == fault.TargetNotFound && err.Evidence["reason"] != "state" {
			return json.RawMessage("[]"), nil // a list may be empty
		}
		return nil, err
	}
	if s.Property == "checked" {
		if facts := f.match.Facts; facts != nil && facts.Checked != nil {
			return call.JSON(*facts.Checked), nil
		}
		return json.RawMessage("null"), nil
	}
	use := extractUses(s)[0]
	if use != "browser.extract_elements" {
		raw, err := r.invoke(use, map[string]any{"locator": f.locator})
		if err != nil {
			return nil, err
		}
		var out struct{ Text, Value *json.RawMessage }
		if e := json.Unmarshal(raw, &out); e != nil {
			return nil, fault.Wrap(fault.Internal, e, "reading the text")
		}
		if out.Value != nil {
			return *out.Value, nil
		}
		if out.Text != nil {
			return *out.Text, nil
		}
		return json.RawMessage("null"), nil
	}
	fields, single := extractFields(s)
	selector, _ := f.all["selector"].(string)
	if selector == "" {
		return nil, fault.New(
			fault.CapabilityUnavailable, "step %s reads fields, which needs a selector in its target", s.id,
		)
	}
	// A list is what the page has, not what the viewport shows of it at the moment.
	args := map[string]any{"item_selector": selector, "fields": fields, "include": "rendered"}
	if facts := f.match.Facts; !many && facts != nil && !facts.Rendered {
		args["include"] = "all"
	}
	for _, name := range []string{"text_equals", "text_contains"} {
		if text, ok := f.all[name]; ok {
			args[name] = text
		}
	}
	if frame, ok := f.all["frame"]; ok {
		args["scope"] = map[string]any{"selector": "body", "frame": frame}
	}
	raw, err := r.invoke("browser.extract_elements", args)
	if err != nil {
		return nil, err
	}
	var out struct {
		Items []json.RawMessage `json:"items"`
	}
	if e := json.Unmarshal(raw, &out); e != nil {
		return nil, fault.Wrap(fault.Internal, e, "reading the items")
	}
	list := make([]json.RawMessage, 0, len(out.Items))
	for _, item := range out.Items {
		if single {
			var one struct {
				Value json.RawMessage `json:"value"`
			}
			if json.Unmarshal(item, &one) == nil && one.Value != nil {
				item = one.Value
			}
		}
		list = append(list, item)
	}
	if many {
		return call.JSON(list), nil
	}
	if len(list) == 0 {
		return json.RawMessage("null"), nil
	}
	return list[0], nil
}

// extractFields turns fields of a step ({name: selector or {selector,
// attribute, property}}) into those of the primitive. single means one unnamed
// value.
func extractFields(s *plannedStep) (fields []map[string]any, single bool) {
	if s.Fields == nil {
		f := map[string]any{"name": "value"}
		switch how := readable[s.Property]; {
		case s.Attribute != "":
			f["attribute"] = s.Attribute
		case how != "text":
			f["attribute"] = how
		}
		return []map[string]any{f}, true
	}
	for _, m := range members(s.Fields) {
		if f, lacks := extractField(m); lacks == "" {
			fields = append(fields, f)
		}
	}
	return fields, false
}

// extractField reads one member of fields, and returns what it would need to be one
// that can be read.
func extractField(m namedMember) (f map[string]any, lacks string) {
	f = map[string]any{"name": m.name}
	var selector string
	if json.Unmarshal(m.value, &selector) == nil {
		f["selector"] = selector
		return f, ""
	}
	var o struct {
		Selector   string   `json:"selector"`
		Attribute  string   `json:"attribute"`
		Attributes []string `json:"attributes"`
		Property   string   `json:"property"`
	}
	d := json.NewDecoder(strings.NewReader(string(m.value)))
	d.DisallowUnknownFields()
	if d.Decode(&o) != nil {
		return nil, "selector, attribute, attributes or property, and nothing else, in its field " +
			fault.Clip(m.name, 60)
	}
	if o.Selector != "" {
		f["selector"] = o.Selector
	}
	switch how := readable[o.Property]; {
	case len(o.Attributes) > 0:
		f["attributes"] = o.Attributes
	case o.Attribute != "":
		f["attribute"] = o.Attribute
	case how == "":
		return nil, "property that can be read in a list, in its field " + fault.Clip(m.name, 60)
	case how != "text":
		f["attribute"] = how
	}
	return f, ""
}

type namedMember struct {
	name  string
	value json.RawMessage
}

// members lists the members of a JSON object in the order of its text.
func members(raw json.RawMessage) []namedMember {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var out []namedMember
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return out
		}
		var v json.RawMessage
		if d.Decode(&v) != nil {
			return out
		}
		out = append(out, namedMember{name, v})
	}
	return out
}

func (r *executionRun) inspect(s *plannedStep) (json.RawMessage, *fault.Error) {
	info, f, err := r.elementInfo(s)
	if err != nil {
		return nil, err
	}
	out := map[string]any{
		"found":            true,
		"tag_name":         info.TagName,
		"text":             fault.Clip(info.Text, maxStepText),
		"count":            max(f.match.Count, info.CandidateCount),
		"bounding_box":     info.Box,
		"clickable_center": info.Center,
	}
	if facts := f.match.Facts; facts != nil {
		out["visible"] = facts.Visible
		out["enabled"] = facts.Enabled
		out["focused"] = facts.Focused
		if facts.Checked != nil {
			out["checked"] = *facts.Checked
		}
		if facts.Value != nil {
			out["value"] = *facts.Value
		}
	}
	return call.JSON(out), nil
}

// maxStepText bounds the text of an element in the result of a step, in bytes.
const maxStepText = 4000
