package replay

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/evidence/record"
)

// Difference is one place in which two results differ.
type Difference struct {
	Pointer string `json:"pointer"`
	Was     any    `json:"was"` // as recorded; nil when it was not there
	Is      any    `json:"is"`
}

// maxDifferences bounds a list of them.
const maxDifferences = 20

// fleeting are members that are others in every session: clocks, durations and ids.
var fleeting = names(
	`runtime_id runtime_key authorization_id _runtime_key duration_ms rate_limit_wait_ms
	extracted_at captured_at resolved_at
	created_at ended_at expires_at imported_at started_at synced_at_ms ts_ms elapsed_ms first_byte_ms waited_ms
	recording_since observed_at at timestamp
	call_id event_id previous_call_id frame_id request_id backend_dom_node_id snapshot_id download_id overlay_id
	remote_address extension_version`,
)

// fleetingInPrimitives are more of them, whose names a map may use for values of its own.
var fleetingInPrimitives = names("path bytes body_bytes window_id cursor next_cursor seq since")

// measured are members that may differ by a pixel.
var measured = names("x y width height left right top bottom scroll_x scroll_y")

func names(text string) map[string]bool {
	out := map[string]bool{}
	for n := range strings.FieldsSeq(text) {
		out[n] = true
	}
	return out
}

// decode reads JSON with its numbers as they are written.
func decode(raw json.RawMessage) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	return v, d.Decode(&v) == nil
}

// comparison collects the differences of two values.
type comparison struct {
	ids       *identities
	primitive bool // results of a primitive, not of a map
	list      []Difference
}

func (c *comparison) ignores(member string) bool {
	return fleeting[member] || c.primitive && (fleetingInPrimitives[member] || strings.HasSuffix(member, "_ms"))
}

// differences compares a recorded result with another one. What the session numbers itself is mapped by ids.
func differences(ids *identities, primitive bool, was, is json.RawMessage) []Difference {
	c := comparison{ids: ids, primitive: primitive}
	a, okA := decode(was)
	b, okB := decode(is)
	switch {
	case okA && okB:
		c.compare("", "", a, b)
	case okA != okB:
		c.add("", a, b)
	}
	return c.list
}

func (c *comparison) add(pointer string, was, is any) {
	if len(c.list) < maxDifferences {
		c.list = append(c.list, Difference{pointer, shown(was), shown(is)})
	}
}

// shown is a value short enough to be read.
func shown(v any) any {
	b, err := json.Marshal(v)
	if err != nil || len(b) <= 300 {
		return v
	}
	return strings.ToValidUTF8(string(b[:300]), "") + "…"
}

func (c *comparison) compare(pointer, member string, was, is any) {
	if c.ignores(member) {
		return
	}
	switch a := was.(type) {
	case map[string]any:
		b, ok := is.(map[string]any)
		if !ok {
			c.add(pointer, was, is)
			return
		}
		all := map[string]bool{}
		for k := range a {
			all[k] = true
		}
		for k := range b {
			all[k] = true
		}
		for _, k := range slices.Sorted(maps.Keys(all)) {
			va, inA := a[k]
			vb, inB := b[k]
			switch {
			case c.ignores(k):
			case inA && inB:
				c.compare(pointer+"/"+escape(k), k, va, vb)
			case inA:
				c.add(pointer+"/"+escape(k), va, nil)
			default:
				c.add(pointer+"/"+escape(k), nil, vb)
			}
		}
	case []any:
		b, ok := is.([]any)
		if !ok {
			c.add(pointer, was, is)
			return
		}
		for i := range max(len(a), len(b)) {
			at := pointer + "/" + strconv.Itoa(i)
			switch {
			case i < len(a) && i < len(b):
				c.compare(at, member, a[i], b[i])
			case i < len(a):
				c.add(at, a[i], nil)
			default:
				c.add(at, nil, b[i])
			}
		}
	case json.Number:
		b, ok := is.(json.Number)
		if !ok || !c.sameNumber(member, a, b) {
			c.add(pointer, was, is)
		}
	case string:
		b, ok := is.(string)
		if !ok || !c.sameText(member, a, b) {
			c.add(pointer, was, is)
		}
	default:
		if was != is {
			c.add(pointer, was, is)
		}
	}
}

func (c *comparison) sameNumber(member string, was, is json.Number) bool {
	if was == is || member == "tab_id" && c.ids.tab(was.String()) == is.String() {
		return true
	}
	a, errA := was.Float64()
	b, errB := is.Float64()
	if errA != nil || errB != nil {
		return false
	}
	return a == b || measured[member] && math.Abs(a-b) <= 1
}

// sameText compares texts. What was left out of a recording is equal to everything, and what stands for a
// secret to any text.
func (c *comparison) sameText(member, was, is string) bool {
	if was == is || strings.HasPrefix(was, record.Omitted) {
		return true
	}
	was = c.ids.text(was)
	if was == is || member == "id" && c.ids.renamed(was, is) || nameMaps[member] && sameMap(was, is) {
		return true
	}
	const opening, closing = "{{secret:", "}}"
	if !strings.Contains(was, opening) {
		return false
	}
	rest := is
	for first := true; ; first = false {
		before, after, found := strings.Cut(was, opening)
		if !found {
			return strings.HasSuffix(rest, was) && (!first || rest == was)
		}
		i := strings.Index(rest, before)
		if i < 0 || first && i > 0 {
			return false
		}
		rest = rest[i+len(before):]
		_, was, found = strings.Cut(after, closing)
		if !found {
			return false
		}
	}
}

// nameMaps are members that name maps by where their files lie.
var nameMaps = names("maps map_path")

// sameMap reports whether a map is the one of the recording: a replay has it in a numbered folder of its own.
func sameMap(was, is string) bool {
	folder, rest, found := strings.Cut(is, "/")
	_, err := strconv.Atoi(folder)
	return found && err == nil && (was == rest || strings.HasSuffix(was, "/"+rest))
}

func sortedNames(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
