package tools

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/primitives/fault"
)

// renewed is the ref that an element of a failed call has now, "" where that is not certain.
func renewed(err *fault.Error) (old, now string) {
	old, _ = err.Evidence["ref"].(string)
	encoded, e := json.Marshal(err.Evidence["now"])
	var in struct {
		Ref     string `json:"ref"`
		Certain bool   `json:"certain"`
	}
	if err.Code != fault.ElementStale || e != nil || json.Unmarshal(encoded, &in) != nil || !in.Certain {
		return "", ""
	}
	return old, in.Ref
}

// renew notes that a ref is another one now, and says so once in the answer.
func (c *Call) renew(old, now string) {
	if c.refs == nil {
		c.refs = map[string]string{}
	}
	if c.refs[old] == "" {
		c.Said = append(c.Said, old+" is now "+now)
	}
	c.refs[old] = now
}

// withRefs are arguments with the refs that elements have now. What is not an object has none.
func (c *Call) withRefs(args json.RawMessage) json.RawMessage {
	var value any
	if len(c.refs) == 0 || json.Unmarshal(args, &value) != nil {
		return args
	}
	encoded, err := json.Marshal(replacedRefs(value, c.refs))
	if err != nil {
		return args
	}
	return encoded
}

// replacedRefs is a value in which members called ref have the refs of now.
func replacedRefs(value any, refs map[string]string) any {
	switch v := value.(type) {
	case map[string]any:
		out := maps.Clone(v)
		for name, member := range v {
			out[name] = replacedRefs(member, refs)
			if text, ok := member.(string); ok && name == "ref" && refs[text] != "" {
				out[name] = refs[text]
			}
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i, member := range v {
			out[i] = replacedRefs(member, refs)
		}
		return out
	}
	return value
}

var refForm = lazyregexp.New(`^(?:f[0-9]+)?e[0-9]+$`)

// presentRef is the key of a field; where it is a ref of an earlier document, the one of now.
func (c *Call) presentRef(
	ctx context.Context, p page, rows []outlineRow, key string, w where,
) (string, *fault.Error) {
	there := func(r outlineRow) bool { return r.Ref == key || r.Name == key }
	if !refForm().MatchString(key) || slices.ContainsFunc(rows, there) {
		return key, nil
	}
	args := map[string]any{"locator": map[string]any{"ref": key}}
	if _, _, err := c.do(ctx, p, "locator.element_info", args, w); err != nil {
		return key, err
	}
	if now := c.refs[key]; now != "" {
		return now, nil
	}
	return key, nil
}
