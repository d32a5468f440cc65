package call

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/outrider-run/outrider/primitives/fault"
)

// routingKeys may stand in the arguments of any call (wire reference, "Extra
// keys in arguments"); they speak to the bridge, not to the action.
var routingKeys = []string{"policy_exception_report", "target_runtime_id", "target_url_contains"}

// Object is the arguments of a call as an object, without what speaks to the bridge. What is inside of an object is
// read by who takes it.
func Object(raw json.RawMessage) (json.RawMessage, *fault.Error) {
	if len(raw) == 0 || string(raw) == "null" {
		return json.RawMessage("{}"), nil
	}
	if kindOf(raw) == "object" && !speaksToBridge(raw) {
		return raw, nil
	}
	var probe map[string]json.RawMessage
	if err := json.Unmarshal(raw, &probe); err != nil {
		return nil, fault.New(fault.InvalidInput, "arguments is not a JSON object").
			With("validation_errors", []map[string]string{
				{"path": "/arguments", "keyword": "type", "message": "expected object, got " + kindOf(raw)},
			})
	}
	strip := false
	for _, k := range routingKeys {
		if _, ok := probe[k]; ok {
			delete(probe, k)
			strip = true
		}
	}
	if !strip {
		return raw, nil
	}
	out, err := json.Marshal(probe)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "encoding arguments")
	}
	return out, nil
}

// speaksToBridge reports whether a routing key may be among the names and texts of arguments.
func speaksToBridge(raw json.RawMessage) bool {
	return slices.ContainsFunc(routingKeys, func(key string) bool { return bytes.Contains(raw, []byte(key)) })
}

func kindOf(raw json.RawMessage) string {
	for _, c := range raw {
		switch c {
		case ' ', '\t', '\n', '\r':
			continue
		case '{':
			return "object"
		case '[':
			return "array"
		case '"':
			return "string"
		case 't', 'f':
			return "boolean"
		case 'n':
			return "null"
		default:
			return "number"
		}
	}
	return "nothing"
}
