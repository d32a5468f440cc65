package projection

import (
	"strings"
)

// Identity says by which member the items of a list are recognised from one
// state to the next. A projection declares it as x_identity:
//
//	"x_identity": {"/lists": "id", "/lists/*/cards": "/meta/key"}
//
// A key is the JSON pointer of a list in the state, in which * stands for any
// one name or index. A value names the member of an item that identifies it,
// or is the JSON pointer of something inside the item. Only text, numbers and
// booleans identify; items without, and items that share their identity with
// another of the list, are matched by their content. The zero value matches
// everything by content.
type Identity struct{ rules []identityRule }

type identityRule struct{ list, key []string }

// compileIdentity reads x_identity.
func compileIdentity(v *value, at string, fail failer) Identity {
	var id Identity
	if !v.given() {
		return id
	}
	if v.kind != kindObject {
		fail.invalid(at, "x_identity must be an object of list pointers")
		return id
	}
	for i, name := range v.names {
		here := at + "/" + escapeToken(name)
		list, ok := splitPointer(name)
		if !ok {
			fail.invalid(here, "the name must be the JSON pointer of a list, such as /lists or /lists/*/cards")
			continue
		}
		key := v.items[i]
		if key.kind != kindString || key.text == "" {
			fail.invalid(here, "must name the member that identifies an item")
			continue
		}
		path := []string{key.text}
		if key.text[0] == '/' {
			path, ok = splitPointer(key.text)
			if !ok {
				fail.invalid(here, "must be a name or a JSON pointer")
				continue
			}
		}
		id.rules = append(id.rules, identityRule{list, path})
	}
	return id
}

// of returns the path of the identity in the items of the list at path; nil
// when none is declared. The first rule that fits counts.
func (id Identity) of(path []string) []string {
	for _, r := range id.rules {
		if len(r.list) != len(path) {
			continue
		}
		fits := true
		for i, token := range r.list {
			if token != "*" && token != path[i] {
				fits = false
				break
			}
		}
		if fits {
			return r.key
		}
	}
	return nil
}

// identify returns the identity of an item; ok is false when it has none.
func identify(item *value, path []string) (string, bool) {
	for _, name := range path {
		item = item.member(name)
		if item == nil {
			return "", false
		}
	}
	switch item.kind {
	case kindNumber, kindTrue, kindFalse, kindString:
		return string(item.append(nil)), true
	}
	return "", false
}

var (
	tokenEscaper   = strings.NewReplacer("~", "~0", "/", "~1")
	tokenUnescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

func escapeToken(s string) string { return tokenEscaper.Replace(s) }

// splitPointer takes a JSON pointer apart; ok is false when it is none.
func splitPointer(s string) (tokens []string, ok bool) {
	if s == "" {
		return nil, true
	}
	if s[0] != '/' {
		return nil, false
	}
	tokens = strings.Split(s[1:], "/")
	for i, t := range tokens {
		for j := 0; j < len(t); j++ {
			if t[j] == '~' && (j+1 == len(t) || t[j+1] != '0' && t[j+1] != '1') {
				return nil, false
			}
		}
		tokens[i] = tokenUnescaper.Replace(t)
	}
	return tokens, true
}

func joinPointer(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte('/')
		b.WriteString(escapeToken(t))
	}
	return b.String()
}
