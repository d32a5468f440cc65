package actionsbridge

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/schema"
	"github.com/outrider-run/outrider/runtime"
)

//go:embed schema/*.json
var schemaFiles embed.FS

// opaque members are checked to be of the right kind and otherwise left to
// whom they are meant for: they can contain a whole storage tree.
var opaque = map[string]bool{"arguments": true, "map": true, "projection": true}

// compiled holds one schema per type the runtime acts on.
var compiled = sync.OnceValue(func() map[string]*schema.Schema {
	out := map[string]*schema.Schema{}
	for _, t := range []string{typeCall, typeSiteCall, typeStateCall, typeProbe} {
		raw, err := schemaFiles.ReadFile("schema/" + t + ".json")
		if err != nil {
			panic(err)
		}
		s, err := schema.Compile(raw)
		if err != nil {
			panic(fmt.Sprintf("schema of %s: %v", t, err))
		}
		out[t] = s
	}
	return out
})

// Decode implements bridgeclient.Dialect.
func (d *Dialect) Decode(frame []byte) bridgeclient.Message {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(frame, &members); err != nil || members == nil {
		return refuse("", "", fault.InvalidFrame, "the message is not a JSON object").frame(frame)
	}
	kind := text(members["type"])
	callID := text(members["call_id"])
	runtimeID := text(members["runtime_id"])
	if kind == "" {
		return refuse(callID, runtimeID, fault.InvalidFrame, "the message has no string member type").frame(frame)
	}
	switch directions[kind] {
	case toBridge:
		return bridgeclient.Ignored{Why: kind + " is not for a runtime"}
	case 0:
		if isAnswer(kind) {
			return bridgeclient.Ignored{Why: "unknown item type that looks like an answer"}
		}
		r := refuse(callID, runtimeID, fault.UnknownItemType, "the item type is not part of the protocol")
		r.Err.With("type", kind).Next(
			"send one of action_call, site_action_call, state_projection_call, runtime_status, runtime_probe",
		)
		return r.Refused
	}
	switch kind {
	case typeStatus:
		// A poll names nothing else. Anything more is a status, perhaps our own
		// sent back, and answering it would never end.
		for name := range members {
			if name != "type" && name != "runtime_id" {
				return bridgeclient.Ignored{Why: "a runtime_status that is no poll"}
			}
		}
		return bridgeclient.Poll{}
	case typeCancel:
		if callID == "" || runtimeID == "" {
			return refuse("", runtimeID, fault.InvalidFrame, "action_cancel needs call_id and runtime_id").Refused
		}
		return bridgeclient.Cancel{ID: callID, RuntimeID: runtimeID}
	case typeCredential:
		// It carries a live secret that this runtime has no use for. Nothing of
		// it is kept or logged.
		return d.refuseCredential(text(members["provider"]))
	}
	if problems := compiled()[kind].ValidateValue(outline(members)); len(problems) > 0 {
		return invalid(kind, callID, runtimeID, problems)
	}
	switch kind {
	case typeCall:
		return decodeCall(members)
	case typeSiteCall:
		return decodeSiteCall(members)
	case typeStateCall:
		return decodeStateCall(members)
	default:
		var p probeItem
		fill(members, &p)
		return bridgeclient.Probe{ID: p.ProbeID, RuntimeID: p.RuntimeID}
	}
}

// fill decodes the members that into has fields for. Unlike encoding/json it
// takes no other spelling of a name: what the schema has not seen does not
// count. A member that does not fit its field is left out; the schema has
// refused those.
func fill(members map[string]json.RawMessage, into any) {
	v := reflect.ValueOf(into).Elem()
	for i := range v.NumField() {
		raw, ok := members[v.Type().Field(i).Tag.Get("json")]
		if !ok {
			continue
		}
		if r, ok := v.Field(i).Addr().Interface().(*json.RawMessage); ok {
			*r = raw
			continue
		}
		_ = json.Unmarshal(raw, v.Field(i).Addr().Interface())
	}
}

// outline decodes the members that the schemas check. Opaque members keep their kind
// only.
func outline(members map[string]json.RawMessage) map[string]any {
	out := make(map[string]any, len(members))
	for name, raw := range members {
		if opaque[name] {
			switch raw[0] {
			case '{':
				out[name] = map[string]any{}
				continue
			case '[':
				out[name] = []any{}
				continue
			}
		}
		var v any
		if json.Unmarshal(raw, &v) != nil {
			v = nil
		}
		out[name] = v
	}
	return out
}

// isAnswer reports whether an unknown type is, by its name, something that
// must not be answered.
func isAnswer(kind string) bool {
	for _, end := range []string{"_error", "_output", "_result", "_ack", "_reply", "_response"} {
		if strings.HasSuffix(kind, end) {
			return true
		}
	}
	return false
}

func decodeCall(members map[string]json.RawMessage) bridgeclient.Message {
	var in callItem
	fill(members, &in)
	call := &bridgeclient.Call{
		ID: in.CallID, RuntimeID: in.RuntimeID, Type: typeCall,
		Run: runtime.Call{
			ID:        in.CallID,
			Name:      in.Name,
			Arguments: object(in.Arguments),
			Timeout:   duration(in.TimeoutMS),
			Target: runtime.Target{
				RuntimeID: cmp.Or(in.RuntimeID, in.TargetRuntimeID), RuntimeKey: in.TargetRuntimeKey,
				URLContains: in.TargetURLContains, TitleContains: in.TargetTitleContains,
			},
			IdempotencyKey: in.IdempotencyKey,
		},
		Digest: digest(in.Name, in.Arguments),
	}
	if t := in.Target; t != nil {
		to := &call.Run.Target
		if t.RuntimeID != "" && to.RuntimeID != "" && t.RuntimeID != to.RuntimeID {
			r := refuse(
				in.CallID, in.RuntimeID, fault.RuntimeNotFound, "the call names two runtimes, and no runtime is both",
			)
			r.Err.With("runtime_id", to.RuntimeID).With("target_runtime_id", t.RuntimeID)
			return r.Refused
		}
		to.RuntimeID = cmp.Or(to.RuntimeID, t.RuntimeID)
		to.RuntimeKey = cmp.Or(to.RuntimeKey, t.RuntimeKey)
		to.URLContains = cmp.Or(to.URLContains, t.URLContains)
		to.TitleContains = cmp.Or(to.TitleContains, t.TitleContains)
		to.TabID = t.TabID
	}
	if in.Name != importTool {
		return call
	}
	var args struct {
		Bundle json.RawMessage `json:"bundle"`
	}
	if err := json.Unmarshal(call.Run.Arguments, &args); err != nil || !isObject(args.Bundle) {
		r := refuse(in.CallID, in.RuntimeID, fault.InvalidInput, "arguments.bundle is not an object")
		r.Err.With("path", "/arguments/bundle")
		return r.Refused
	}
	call.Bundle = args.Bundle
	return call
}

func decodeSiteCall(members map[string]json.RawMessage) bridgeclient.Message {
	var in siteCallItem
	fill(members, &in)
	args := marshal(struct {
		Mode      string          `json:"mode"`
		Action    string          `json:"action"`
		Arguments json.RawMessage `json:"arguments"`
	}{"call", in.Action, object(in.Arguments)})
	return &bridgeclient.Call{
		ID: in.CallID, RuntimeID: in.RuntimeID, Type: typeSiteCall,
		Run: runtime.Call{
			ID:        in.CallID,
			Name:      siteTool,
			Arguments: args,
			Timeout:   duration(in.TimeoutMS),
			Target:    runtime.Target{RuntimeID: in.RuntimeID},
			Map:       &runtime.SuppliedMap{Path: in.MapPath, JSON: in.Map},

			IdempotencyKey: in.IdempotencyKey,
		},
		Digest: digest(in.Action, in.Arguments),
	}
}

func decodeStateCall(members map[string]json.RawMessage) bridgeclient.Message {
	var in stateCallItem
	fill(members, &in)
	args := marshal(struct {
		Mode           string  `json:"mode"`
		ProjectionName string  `json:"projection_name"`
		SummaryName    *string `json:"summary_name,omitempty"`
		MaxBytes       *int64  `json:"max_bytes,omitempty"`
	}{in.Mode, in.ProjectionName, in.SummaryName, in.MaxBytes})
	call := &bridgeclient.Call{
		ID: in.CallID, RuntimeID: in.RuntimeID, Type: typeStateCall,
		Run: runtime.Call{
			ID: in.CallID, Name: siteTool, Arguments: args, Timeout: duration(in.TimeoutMS),
			Target: runtime.Target{RuntimeID: in.RuntimeID},
		},
		Digest: digest(in.Mode+"\x00"+in.ProjectionName, args),
	}
	// Without a usable declaration the runtime looks in its own storage, as the
	// upstream runtime does.
	if isObject(in.Projection) && in.MapPath != "" {
		call.Run.Map = &runtime.SuppliedMap{Path: in.MapPath, JSON: marshal(struct {
			Protocol         string            `json:"protocol"`
			Version          int               `json:"version"`
			Tools            []struct{}        `json:"tools"` // a map without the member is no map
			StateProjections []json.RawMessage `json:"state_projections"`
		}{"actions.json", 1, []struct{}{}, []json.RawMessage{in.Projection}})}
	}
	return call
}

// seed makes digests of one process comparable, and of no other.
var seed = maphash.MakeSeed()

// compactBelow keeps the reader from spending its time on a storage tree.
const compactBelow = 64 << 10

// digest tells a repeated call from another call with the same id. Spaces in
// short arguments do not count.
func digest(name string, args json.RawMessage) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	h.WriteString(name)
	h.WriteByte(0)
	var b bytes.Buffer
	if len(args) < compactBelow && json.Compact(&b, args) == nil {
		args = b.Bytes()
	}
	h.Write(args)
	return max(h.Sum64(), 1)
}

// object gives absent and null arguments their meaning, an empty object.
func object(raw json.RawMessage) json.RawMessage {
	if !isObject(raw) {
		return json.RawMessage("{}")
	}
	return raw
}

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

func duration(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// text returns the string raw holds, "" for anything else.
func text(raw json.RawMessage) string {
	if len(raw) == 0 || raw[0] != '"' {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// marshal encodes one of the types of messages.go. They hold nothing that can
// fail except raw JSON of the host; that costs the frame, not the process.
func marshal(v any) []byte {
	text, err := jsonout.Line(v)
	if err != nil {
		return nil
	}
	return text
}
