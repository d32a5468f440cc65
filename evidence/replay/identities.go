package replay

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// identities maps what the old session named to what the new one does: refs, tabs, addresses, and points
// that a result gave and a later call uses.
type identities struct {
	refs   map[string]string
	tabs   map[string]string
	later  int // by which the numbers of tabs are higher than in a host that was just opened
	points map[[2]string][2]json.Number
	// made are ids of elements that scripts make anew in each session, by the old one, and the other way round.
	made, madeOf map[string]string
	// Addresses of the old origin become addresses of the new one.
	oldOrigin, newOrigin string
}

func newIdentities() *identities {
	return &identities{
		refs:   map[string]string{},
		tabs:   map[string]string{},
		points: map[[2]string][2]json.Number{},
		made:   map[string]string{},
		madeOf: map[string]string{},
	}
}

func (m *identities) tab(old string) string {
	if now, ok := m.tabs[old]; ok {
		return now
	}
	if n, err := strconv.Atoi(old); err == nil {
		return strconv.Itoa(n + m.later)
	}
	return old
}

// leastMade is how long a part of an id is that a script makes by chance.
const leastMade = 4

// renamed reports whether two ids of an element can be one that is made anew in each session: one part of them
// differs, and each always stands for the other.
func (m *identities) renamed(old, now string) bool {
	divides := func(r rune) bool { return strings.ContainsRune("-_:.", r) }
	a, b := strings.FieldsFunc(old, divides), strings.FieldsFunc(now, divides)
	if len(a) != len(b) || len(a) < 2 {
		return false
	}
	differ := 0
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		differ++
		if len(a[i]) < leastMade || len(a[i]) != len(b[i]) {
			return false
		}
	}
	known, seen := m.made[old]
	back, seenBack := m.madeOf[now]
	if differ != 1 || seen && known != now || seenBack && back != old {
		return false
	}
	m.made[old], m.madeOf[now] = now, old
	return true
}

// hostOf is the host of an origin with its port, as results name it beside addresses.
func hostOf(origin string) string {
	_, host, _ := strings.Cut(origin, "://")
	return host
}

var refInText = regexp.MustCompile(`\[ref=((?:f\d+)?e\d+)\]`)

// text is a text of the old session in the words of the new one.
func (m *identities) text(old string) string {
	if host := hostOf(m.oldOrigin); host != "" && old == host {
		return hostOf(m.newOrigin)
	}
	if m.oldOrigin != "" && m.oldOrigin != m.newOrigin {
		old = strings.ReplaceAll(old, m.oldOrigin, m.newOrigin)
	}
	if len(m.refs) == 0 || !strings.Contains(old, "[ref=") {
		return old
	}
	return refInText.ReplaceAllStringFunc(old, func(whole string) string {
		if now, ok := m.refs[whole[len("[ref="):len(whole)-1]]; ok {
			return "[ref=" + now + "]"
		}
		return whole
	})
}

// learn reads what two results name: where both have a name at the same place, the one stands for the other.
func (m *identities) learn(was, is json.RawMessage) {
	a, okA := decode(was)
	b, okB := decode(is)
	if okA && okB {
		m.pair("", a, b)
	}
}

func (m *identities) pair(member string, was, is any) {
	switch a := was.(type) {
	case map[string]any:
		b, ok := is.(map[string]any)
		if !ok {
			return
		}
		if ax, ok := a["x"].(json.Number); ok && member != "" {
			ay, okA := a["y"].(json.Number)
			bx, okX := b["x"].(json.Number)
			by, okY := b["y"].(json.Number)
			if okA && okX && okY {
				m.points[[2]string{ax.String(), ay.String()}] = [2]json.Number{bx, by}
			}
		}
		for k, v := range a {
			if w, ok := b[k]; ok {
				m.pair(k, v, w)
			}
		}
	case []any:
		if b, ok := is.([]any); ok {
			for i := range min(len(a), len(b)) {
				m.pair(member, a[i], b[i])
			}
		}
	case json.Number:
		if b, ok := is.(json.Number); ok && member == "tab_id" {
			m.tabs[a.String()] = b.String()
		}
	case string:
		b, ok := is.(string)
		if !ok {
			return
		}
		if member == "ref" {
			m.refs[a] = b
			return
		}
		old, now := refInText.FindAllStringSubmatch(a, -1), refInText.FindAllStringSubmatch(b, -1)
		if len(old) == len(now) {
			for i := range old {
				m.refs[old[i][1]] = now[i][1]
			}
		}
	}
}

// arguments are those of a call in the words of the new session.
func (m *identities) arguments(raw json.RawMessage) json.RawMessage {
	v, ok := decode(raw)
	if !ok {
		return raw
	}
	changed := false
	var walk func(member string, v any) any
	walk = func(member string, v any) any {
		switch v := v.(type) {
		case map[string]any:
			x, okX := v["x"].(json.Number)
			y, okY := v["y"].(json.Number)
			if okX && okY {
				if now, known := m.points[[2]string{x.String(), y.String()}]; known && (now[0] != x || now[1] != y) {
					v["x"] = now[0]
					v["y"] = now[1]
					changed = true
				}
			}
			for k, e := range v {
				v[k] = walk(k, e)
			}
		case []any:
			for i, e := range v {
				v[i] = walk(member, e)
			}
		case json.Number:
			if member == "tab_id" && m.tab(v.String()) != v.String() {
				changed = true
				return json.Number(m.tab(v.String()))
			}
		case string:
			now := v
			if member == "ref" {
				if n, ok := m.refs[v]; ok {
					now = n
				}
			}
			if m.oldOrigin != "" && m.oldOrigin != m.newOrigin {
				now = strings.ReplaceAll(now, m.oldOrigin, m.newOrigin)
			}
			changed = changed || now != v
			return now
		}
		return v
	}
	v = walk("", v)
	if !changed {
		return raw
	}
	out, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return out
}

// withoutRouting leaves out the members of arguments that name a tab of the old session to a bridge.
func withoutRouting(raw json.RawMessage) json.RawMessage {
	var args map[string]json.RawMessage
	if json.Unmarshal(raw, &args) != nil {
		return raw
	}
	n := len(args)
	delete(args, "target_runtime_id")
	delete(args, "target_url_contains")
	delete(args, "policy_exception_report")
	if len(args) == n {
		return raw
	}
	out, err := json.Marshal(args)
	if err != nil {
		return raw
	}
	return out
}
