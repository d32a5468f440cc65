package primitives

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
)

// Adapter is the name this host gives itself in result envelopes.
// UpstreamAdapter is the one of the extension, which quirks.UpstreamAnswers gives.
const (
	Adapter         = "cdp"
	UpstreamAdapter = "extension"
)

// AdapterOn is the name of the host in what is answered on p.
func AdapterOn(p Page) string { return adapterOf(QuirksOf(p)) }

func adapterOf(set quirks.Set) string {
	if set.Has(quirks.UpstreamAnswers) {
		return UpstreamAdapter
	}
	return Adapter
}

// FlatUpstream is implemented by the output of an enveloped primitive when the
// extension may answer it without the envelope.
type FlatUpstream interface{ FlatUpstream() bool }

// Result is the outcome of one primitive. Exactly one of Payload and Err is
// set, except for a flat primitive that ran and failed: it has both.
type Result struct {
	Primitive string
	// Adapter is the name of the host in the envelope; empty is the constant
	// of this name.
	Adapter string
	// Flat means that the payload itself is the wire form, without the
	// envelope (reference: flat results).
	Flat    bool
	Payload json.RawMessage
	Err     *fault.Error
	// Effects is the report of effects, when the call requested it: also after a
	// failure. It is a member of its own beside the value.
	Effects json.RawMessage
	// Drift lists the locators of the arguments that only a fallback found. It is a member of its own, too.
	Drift []Drift
	// Transport is a member of the extension's envelope of a picture; empty for none.
	Transport string
	// Wait is how long pacing delayed the call before it ran.
	Wait     time.Duration
	Duration time.Duration
}

// OK reports whether the primitive succeeded.
func (r Result) OK() bool { return r.Err == nil }

// AdapterName is the name of the host in the envelope.
func (r Result) AdapterName() string {
	if r.Adapter == "" {
		return Adapter
	}
	return r.Adapter
}

// Answered reports whether the extension answers a failure such as r with an
// output that reports it. It answers others with an error, as those of a
// handler that threw.
func (r Result) Answered() bool {
	if r.Err == nil {
		return false
	}
	if r.Flat || len(r.Payload) > 0 {
		return r.Flat && len(r.Payload) > 0
	}
	switch code := r.Err.Code; code {
	case fault.UnknownAction, fault.HandlerFailed, fault.BackgroundActionFailed:
		return false
	case fault.Timeout, fault.CapabilityUnavailable:
		return true
	default:
		// The extension's primitives check their arguments themselves, so what is
		// refused here is an answer of the primitive there.
		return code == fault.InvalidInput || !fault.Universal(code)
	}
}

// Envelope returns the wire form: the success or failure envelope, or the bare
// object of a flat primitive.
//
// A report of effects is a further member of it.
func (r Result) Envelope() json.RawMessage {
	envelope, _ := r.Enveloped()
	return envelope
}

// Enveloped is Envelope, and the value in it: its member value, or all of the object of a flat primitive.
func (r Result) Enveloped() (envelope, value json.RawMessage) {
	envelope, value = r.envelope()
	envelope = r.affected(r.drifted(envelope))
	if r.Flat {
		value = envelope
	}
	return envelope, value
}

// Drift is a locator that only a fallback found.
type Drift struct {
	Preferred string `json:"preferred"` // the locator without its fallbacks
	Matched   string `json:"matched"`
	Candidate string `json:"candidate"`
	Message   string `json:"message"`
}

// drifted adds the locators that drifted, if there are some, to an object.
func (r Result) drifted(object json.RawMessage) json.RawMessage {
	n := len(object)
	if len(r.Drift) == 0 || n < 2 || object[n-1] != '}' {
		return object
	}
	list, err := json.Marshal(r.Drift)
	if err != nil {
		return object
	}
	sep := `,"drift":`
	if n == 2 {
		sep = sep[1:]
	}
	return append(append(append(object[:n-1:n-1], sep...), list...), '}')
}

// affected adds the report of effects, if there is one, to an object.
func (r Result) affected(object json.RawMessage) json.RawMessage {
	n := len(object)
	if len(r.Effects) == 0 || n < 2 || object[n-1] != '}' {
		return object
	}
	sep := `,"effects":`
	if n == 2 {
		sep = sep[1:]
	}
	return append(append(append(object[:n-1:n-1], sep...), r.Effects...), '}')
}

func (r Result) envelope() (envelope, value json.RawMessage) {
	wait := strconv.FormatInt(r.Wait.Milliseconds(), 10)
	switch {
	case r.Err != nil && r.Flat && len(r.Payload) > 0:
		return r.Payload, nil
	case r.Err != nil:
		b := r.failure()
		return append(append(b[:len(b)-1:len(b)-1], `,"rate_limit_wait_ms":`+wait...), '}'), nil
	case r.Flat:
		return r.Payload, nil
	}
	b := []byte(`{"ok":true,"primitive":` + strconv.Quote(r.Primitive) + `,"adapter":"` + r.AdapterName() + `"`)
	if r.Transport != "" {
		b = append(b, `,"transport":`+strconv.Quote(r.Transport)...)
	}
	b = append(b, `,"value":`...)
	start := len(b)
	n := len(r.Payload)
	if n < 2 || r.Payload[0] != '{' {
		b = append(b, r.Payload...)
		end := len(b)
		return append(b, `,"rate_limit_wait_ms":`+wait+`}`...), b[start:end:end]
	}
	sep := ","
	if n == 2 {
		sep = ""
	}
	b = append(b, r.Payload[:n-1]...)
	b = append(b, sep+`"rate_limit_wait_ms":`+wait+`}}`...)
	end := len(b) - 1
	return b, b[start:end:end]
}

func (r Result) failure() []byte {
	e, err := json.Marshal(r.Err)
	if err != nil {
		e = []byte(`{"code":"internal","message":"encoding the error"}`)
	}
	if r.Adapter == UpstreamAdapter && len(r.Err.Evidence) == 0 {
		e = append(e[:len(e)-1], `,"evidence":{}}`...) // the extension's failures always have it
	}
	return []byte(`{"ok":false,"primitive":` + strconv.Quote(r.Primitive) + `,"adapter":"` + r.AdapterName() +
		`","error":` + string(e) + `}`)
}

// Step returns the result as a workflow sees it under steps.<id>:
// {"ok":true,"output":payload} or {"ok":false,"primitive","adapter","error"};
// a flat payload that reports its own failure keeps it in output. A report of
// effects stands beside them.
func (r Result) Step() json.RawMessage { return r.affected(r.step()) }

func (r Result) step() json.RawMessage {
	if r.Err == nil {
		p := r.Payload
		if len(p) == 0 {
			p = json.RawMessage("null")
		}
		return append(append([]byte(`{"ok":true,"output":`), p...), '}')
	}
	b := r.failure()
	if len(r.Payload) > 0 {
		b = append(append(b[:len(b)-1:len(b)-1], `,"output":`...), r.Payload...)
		b = append(b, '}')
	}
	return b
}
