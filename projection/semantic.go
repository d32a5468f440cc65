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
		semantic = append(semantic, o.meaning(patch, d.identity)...)
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

var meanings = map[string]string{
	"add":     "entity_added",
	"remove":  "entity_removed",
	"move":    "entity_moved",
	"replace": "field_replaced",
}

// meaning says in the words of the reference what an operation means. The
// entity of removals and replacements, and the whole of entity_moved, are ours.
func (o operation) meaning(patch []byte, identity Identity) []byte {
	b := append(append([]byte(`{"type":"`), meanings[o.op]...), '"')
	tokens, _ := splitPointer(o.path)
	kind, listed := entityKind(tokens)
	if o.op == "replace" {
		b = appendString(append(b, `,"field":`...), last(tokens))
	}
	if o.op != "replace" || listed {
		b = appendString(append(b, `,"entity":{"kind":`...), kind)
		if title := o.title(tokens, identity); title != nil {
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

// title is what the thing is called that an operation is about: what is added,
// removed or moved, or the item of a list that the place belongs to.
func (o operation) title(tokens []string, identity Identity) *value {
	item := o.entity
	if len(tokens) > 0 && numeric(tokens[len(tokens)-1]) {
		item = o.value
	}
	if o.op != "replace" {
		if title := titleOf(o.value); title != nil {
			return title
		}
	}
	if title := titleOf(item); title != nil {
		return title
	}
	for i := len(tokens) - 1; i >= 0; i-- {
		if !numeric(tokens[i]) {
			continue
		}
		key := identity.of(tokens[:i])
		if key == nil {
			return nil
		}
		for _, name := range key {
			item = item.member(name)
		}
		if item != nil && (item.kind == kindString && item.text != "" || item.kind == kindNumber) {
			return item
		}
		return nil
	}
	return nil
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
	name = strings.TrimSuffix(name, "s")
	if name == "" {
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

// titleOf is what a value calls itself: its title, else its name, else its id;
// only text and numbers say anything.
func titleOf(v *value) *value {
	for _, name := range []string{"title", "name", "id"} {
		if t := v.member(name); t.truthy() && (t.kind == kindString || t.kind == kindNumber) {
			return t
		}
	}
	return nil
}
