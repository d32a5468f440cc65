package projection

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Apply returns doc with a JSON Patch (RFC 6902) applied. All six operations
// are known. It applies all of the patch or fails: the error is an
// invalid_input fault that names the operation. An empty doc is undefined, so
// that a patch that adds the whole can be applied to it; a patch that removes
// the whole gives an empty result.
func Apply(doc, patches json.RawMessage) (json.RawMessage, error) {
	var root *value
	if len(doc) > 0 {
		var err error
		root, err = parseValue(doc)
		if err != nil {
			return nil, fault.New(fault.InvalidInput, "the document to patch: %v", err)
		}
	}
	list, err := parseValue(patches)
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "the patch: %v", err)
	}
	if list.kind != kindArray {
		return nil, fault.New(fault.InvalidInput, "the patch is not an array of operations")
	}
	copies := maxCopied
	for i, op := range list.items {
		if problem := applyOperation(&root, op, &copies); problem != "" {
			return nil, fault.New(fault.InvalidInput, "operation %d of the patch %s", i, problem).With("operation", i)
		}
	}
	if root == nil {
		return json.RawMessage{}, nil
	}
	return root.append(nil), nil
}

// maxCopied bounds the values that the copies of one patch may make: each copy
// can double the document.
const maxCopied = 100_000

// applyOperation changes root and says what was wrong, or "".
func applyOperation(root **value, op *value, copies *int) string {
	text := func(name string) (string, bool) {
		v := op.member(name)
		if v == nil || v.kind != kindString {
			return "", false
		}
		return v.text, true
	}
	name, _ := text("op")
	pointer, ok := text("path")
	if !ok {
		return "has no path"
	}
	path, ok := splitPointer(pointer)
	if !ok {
		return "has a path that is no JSON pointer"
	}
	operand := op.member("value")
	if (name == "add" || name == "replace" || name == "test") && operand == nil {
		return "has no value"
	}
	switch name {
	case "add":
		return addAt(root, path, operand)
	case "remove":
		_, problem := removeAt(root, path)
		return problem
	case "replace":
		return replaceAt(root, path, operand)
	case "test":
		found, problem := find(*root, path)
		if problem == "" && !sameValue(found, operand) {
			problem = "expects another value"
		}
		return problem
	case "move", "copy":
		source, ok := text("from")
		if !ok {
			return "has no from"
		}
		from, ok := splitPointer(source)
		if !ok {
			return "has a from that is no JSON pointer"
		}
		if name == "copy" {
			found, problem := find(*root, from)
			if problem != "" {
				return problem
			}
			copied := clone(found, copies)
			if copied == nil {
				return "copies too much"
			}
			return addAt(root, path, copied)
		}
		if len(path) > len(from) && slices.Equal(path[:len(from)], from) {
			return "moves a value into itself"
		}
		moved, problem := removeAt(root, from)
		if problem != "" {
			return problem
		}
		return addAt(root, path, moved)
	}
	return "is none of add, remove, replace, move, copy and test"
}

const noPlace = "names a place that is not there"

func find(v *value, path []string) (*value, string) {
	if v == nil {
		return nil, noPlace
	}
	for _, token := range path {
		i, ok := v.at(token, 0)
		if !ok {
			return nil, noPlace
		}
		v = v.items[i]
	}
	return v, ""
}

// at returns the index in items of a member or an item. With beyond 1 the end
// of an array counts, by its number or as "-".
func (v *value) at(token string, beyond int) (int, bool) {
	switch v.kind {
	case kindObject:
		i := slices.Index(v.names, token)
		return i, i >= 0
	case kindArray:
		if token == "-" {
			return len(v.items), beyond == 1
		}
		if n, err := strconv.Atoi(token); err == nil && strconv.Itoa(n) == token && n >= 0 && n < len(v.items)+beyond {
			return n, true
		}
	}
	return 0, false
}

// holder returns what holds the place that path names, and the last token.
func holder(root *value, path []string) (*value, string, string) {
	v, problem := find(root, path[:len(path)-1])
	if problem == "" && v.kind != kindObject && v.kind != kindArray {
		problem = noPlace
	}
	return v, path[len(path)-1], problem
}

func addAt(root **value, path []string, v *value) string {
	if len(path) == 0 {
		*root = v
		return ""
	}
	in, token, problem := holder(*root, path)
	if problem != "" {
		return problem
	}
	if in.kind == kindArray {
		i, ok := in.at(token, 1)
		if !ok {
			return noPlace
		}
		in.items = slices.Insert(in.items, i, v)
		return ""
	}
	if i, ok := in.at(token, 0); ok {
		in.items[i] = v
		return ""
	}
	in.names, in.items = append(in.names, token), append(in.items, v)
	if _, numeric := arrayIndex(token); numeric {
		in.orderMembers()
	}
	return ""
}

func removeAt(root **value, path []string) (*value, string) {
	if len(path) == 0 {
		v := *root
		if v == nil {
			return nil, noPlace
		}
		*root = nil
		return v, ""
	}
	in, token, problem := holder(*root, path)
	if problem != "" {
		return nil, problem
	}
	i, ok := in.at(token, 0)
	if !ok {
		return nil, noPlace
	}
	v := in.items[i]
	in.items = slices.Delete(in.items, i, i+1)
	if in.kind == kindObject {
		in.names = slices.Delete(in.names, i, i+1)
	}
	return v, ""
}

// replaceAt puts v in the place of what is there.
func replaceAt(root **value, path []string, v *value) string {
	if len(path) == 0 {
		if *root == nil {
			return noPlace
		}
		*root = v
		return ""
	}
	in, token, problem := holder(*root, path)
	if problem != "" {
		return problem
	}
	i, ok := in.at(token, 0)
	if !ok {
		return noPlace
	}
	in.items[i] = v
	return ""
}

// sameValue is the equality of JSON: the order of members does not count.
func sameValue(a, b *value) bool {
	in := newInterner()
	return in.value(a) == in.value(b)
}

// clone returns nil when left runs out.
func clone(v *value, left *int) *value {
	if *left--; *left < 0 {
		return nil
	}
	out := *v
	out.names = slices.Clone(v.names)
	out.items = make([]*value, len(v.items))
	for i, item := range v.items {
		out.items[i] = clone(item, left)
		if out.items[i] == nil {
			return nil
		}
	}
	return &out
}
