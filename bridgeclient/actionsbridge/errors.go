package actionsbridge

import (
	"bytes"
	"encoding/json"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/schema"
)

// wireError encodes err as the error member of action_error: code, message,
// severity, recoverable, further members, evidence, next_step. Codes go out as
// they are; one that is not declared becomes internal, so that a peer never
// meets a code that docs/reference/errors.md does not explain. Those of the
// expression engine go out where the profile passes them on
// (quirks.UpstreamAnswers).
func wireError(err *fault.Error) json.RawMessage {
	if _, ok := fault.Lookup(err.Code); !ok && err.Evidence["jsonata_code"] != string(err.Code) {
		known := *err
		known.Code = fault.Internal
		err = &known
	}
	return marshal(err)
}

type refusal struct{ bridgeclient.Refused }

func refuse(callID, runtimeID string, code fault.Code, message string) refusal {
	return refusal{bridgeclient.Refused{
		Call: &bridgeclient.Call{ID: bounded(callID), RuntimeID: runtimeID},
		Err:  fault.New(code, "%s", message),
	}}
}

// bounded refuses to be an echo for ids of any length.
func bounded(id string) string {
	if len(id) > 512 {
		return ""
	}
	return id
}

// frame adds where a frame stops being JSON. The frame itself is not quoted.
func (r refusal) frame(frame []byte) bridgeclient.Refused {
	r.Err.With("bytes", len(frame))
	var any json.RawMessage
	if err := json.Unmarshal(frame, &any); err != nil {
		d := json.NewDecoder(bytes.NewReader(frame))
		for {
			if _, err := d.Token(); err != nil {
				break
			}
		}
		r.Err.With("offset", d.InputOffset())
	}
	return r.Refused
}

// invalid reports what is wrong with an item of a known type: as a failure of
// the call when it has an id, else as an invalid frame.
func invalid(kind, callID, runtimeID string, problems []schema.Problem) bridgeclient.Refused {
	code := fault.InvalidInput
	if callID == "" || kind == typeProbe {
		code = fault.InvalidFrame
	}
	r := refuse(callID, runtimeID, code, kind+" does not match its schema: "+problems[0].String())
	r.Err.With("type", kind).With("validation_errors", problems)
	return r.Refused
}
