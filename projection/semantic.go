package projection

import (
	"encoding/json"
	"strings"
)

// delta encodes the operations and their meaning, one entry for each.
func (d *differ) delta() Delta {
	patches, semantic := []byte{'['}, []byte{'['}
	for i, o := range d.ops {
		if i > 0 {
			patches, semantic = append(patches, ','), append(semantic, ',')
		}
		patch := o.patch()
		patches = append(patches, patch...)
		semantic = append(semantic, o.meaning(patch)...)
	}
	return Delta{Patches: append(patches, ']'), Semantic: append(semantic, ']')}
}

func (o operation) patch() json.RawMessage {
	b := append([]byte(`{"op":"`), o.op...)
	b = append(b, '"')
	if o.op == "move" {
		b = appendString(append(b, `,"from":`...), o.from)
	}
	b = appendString(append(b, `,"path":`...), o.path)
	if o.op == "add" || o.op == "replace" {
		b = o.value.append(append(b, `,"value":`...))
	}
	return append(b, '}')
}

var meanings = map[string]string{"add": "entity_added", "remove": "entity_removed", "move": "entity_moved", "replace": "field_replaced"}

// meaning says in the words of the reference what an operation means. The
// entity of removals and replacements, and the whole of entity_moved, are ours.
func (o operation) meaning(patch []byte) []byte {
	b := append(append([]byte(`{"type":"`), meanings[o.op]...), '"')
	tokens, _ := splitPointer(o.path)
	kind, listed := entityKind(tokens)
	titled := o.value
	if o.op == "replace" {
		titled = o.entity
		if len(tokens) > 0 && numeric(tokens[len(tokens)-1]) {
			titled = o.value
		}
		b = appendString(append(b, `,"field":`...), last(tokens))
	}
	if o.op != "replace" || listed {
		b = appendString(append(b, `,"entity":{"kind":`...), kind)
		if title := titleOf(titled); title != nil {
			b = title.append(append(b, `,"title":`...))
		}
		b = append(b, '}')
	}
	if o.op == "move" {
		b = appendString(append(b, `,"from":`...), o.from)
	}
	b = appendString(append(b, `,"path":`...), o.path)
	if o.op == "replace" {
		b = o.value.append(append(b, `,"value":`...))
	}
	b = append(append(b, `,"patch":`...), patch...)
	return append(b, '}')
}

// entityKind is the singular of the collection that the last index in the path
// belongs to, or of the last name when there is no index. listed is false then.
func entityKind(tokens []string) (kind string, listed bool) {
	for i := len(tokens) - 1; i >= 0; i-- {
		if !numeric(tokens[i]) {
			continue
		}
		if i == 0 {
			return "item", true
		}
		return singular(tokens[i-1]), true
	}
	return singular(last(tokens)), false
}

func singular(name string) string {
	if name = strings.TrimSuffix(name, "s"); name == "" {
		return "item"
	}
	return name
}

func numeric(token string) bool {
	return token != "" && strings.Trim(token, "0123456789") == ""
}

func last(tokens []string) string {
	if len(tokens) == 0 {
		return ""
	}
	return tokens[len(tokens)-1]
}

// titleOf is what an entity is called: its title, else its name, else its id;
// only text and numbers say anything.
func titleOf(v *value) *value {
	for _, name := range []string{"title", "name", "id"} {
		if t := v.member(name); t.truthy() && (t.kind == kindString || t.kind == kindNumber) {
			return t
		}
	}
	return nil
}
