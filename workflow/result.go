package workflow

import (
	"encoding/json"
	"strconv"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
)

// result is what a later expression sees under steps.<id>.
type result struct {
	ok      bool
	failure *failure // set when ok is false
	// head and tail are further members, each with a comma before it; the
	// error of a failure stands between them.
	head, tail []byte
	// silent leaves the error out: the result of a loop has its errors in the
	// items.
	silent bool
}

func (res result) append(b []byte) []byte {
	if res.ok {
		b = append(b, `{"ok":true`...)
	} else {
		b = append(b, `{"ok":false`...)
	}
	b = append(b, res.head...)
	if !res.ok && !res.silent && res.failure != nil {
		b = append(append(b, `,"error":`...), res.failure.json...)
	}
	return append(append(b, res.tail...), '}')
}

func (res result) size() int {
	n := len(res.head) + len(res.tail) + 16
	if res.failure != nil {
		n += len(res.failure.json)
	}
	return n
}

// withAttempts returns res with the member attempts. The attempts may include
// res itself.
func (res result) withAttempts(attempts []result) result {
	t := make([]byte, 0, len(res.tail)*2+64)
	t = append(append(t, res.tail...), `,"attempts":`...)
	res.tail = appendResults(t, attempts)
	return res
}

// failed is the result of a step that got no answer from a primitive.
func failed(f *failure) result { return result{failure: f} }

// resultOf turns the answer of a primitive into a step result, as the profile
// has it.
func (r *run) resultOf(res primitives.Result) result {
	if r.opts.Quirks.Has(quirks.SwallowedStepFailure) && swallowed(res) {
		return result{ok: true, tail: append([]byte(`,"output":`), res.Envelope()...)}
	}
	return resultOf(res)
}

// swallowed reports whether the extension takes this answer of a primitive for a
// success: it checks only whether the primitive answered at all, not at what.
func swallowed(res primitives.Result) bool {
	if res.Err == nil {
		return res.Flat // its payload may say ok:false
	}
	return res.Answered()
}

// resultOf turns the answer of a primitive into a step result, in the form of
// primitives.Result.Step. A flat payload that reports its own failure fails
// the step and stays readable in output.
func resultOf(r primitives.Result) result {
	if r.Err == nil && r.Flat {
		if e := flatFailure(r); e != nil {
			r.Err = e
		}
	}
	res := result{ok: r.Err == nil}
	if r.Err != nil {
		res.failure = failureOf(r.Err)
		res.head = append(
			strconv.AppendQuote([]byte(`,"primitive":`), r.Primitive), `,"adapter":"`+r.AdapterName()+`"`...,
		)
	}
	switch {
	case len(r.Payload) > 0:
		res.tail = append([]byte(`,"output":`), r.Payload...)
	case res.ok:
		res.tail = []byte(`,"output":null`)
	}
	return res
}

// flatFailure returns the failure that a flat payload reports in its members
// ok and error.
func flatFailure(r primitives.Result) *fault.Error {
	var p struct {
		OK    *bool           `json:"ok"`
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(r.Payload, &p) != nil || p.OK == nil || *p.OK {
		return nil
	}
	var e struct {
		Code    fault.Code `json:"code"`
		Message string     `json:"message"`
	}
	if json.Unmarshal(p.Error, &e) != nil || e.Code == "" {
		return fault.New(fault.HandlerFailed, "%s reported a failure", r.Primitive)
	}
	if e.Message == "" {
		e.Message = r.Primitive + " reported a failure"
	}
	return fault.New(e.Code, "%s", e.Message)
}

// results is the text of the object steps. It grows at its end; only the step
// that runs may change its own result.
type results struct {
	b    []byte
	mark int    // where the entry of id starts
	id   string // the last entry
}

func newResults() *results { return &results{b: []byte{'{'}} }

// put sets the result of id, which is the last entry or a new one. It reports
// false, and changes nothing, when the whole would be too large.
func (rs *results) put(id string, res result) bool {
	mark := len(rs.b)
	if id == rs.id {
		mark = rs.mark
	}
	next := rs.b[:mark]
	if res.size()+len(id)+mark > MaxRetainedBytes {
		return false
	}
	if mark > 1 {
		next = append(next, ',')
	}
	next = append(append(append(next, '"'), id...), `":`...)
	next = res.append(next)
	rs.b = next
	rs.mark = mark
	rs.id = id
	return true
}

// json returns the object. The text is valid until the next put.
func (rs *results) json() json.RawMessage {
	b := append(rs.b, '}')
	rs.b = b[:len(b)-1]
	return json.RawMessage(b)
}
