package world

import (
	"bytes"
	"strconv"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// RefsGiven reads how far the refs of a document have come, 0 when the answer
// gave none. It stands at the beginning of the answer.
func RefsGiven(remote []byte) int {
	value, usual := bytes.CutPrefix(remote, stringRemote)
	if !usual {
		value = cdp.Member(remote, "value")
	}
	for _, head := range []string{`"{\"ok\":true,\"refs\":`, `"{\"ok\":false,\"refs\":`} {
		if rest, ok := bytes.CutPrefix(value, []byte(head)); ok {
			digits := rest[:min(len(rest), 16)]
			if end := bytes.IndexByte(digits, ','); end > 0 {
				n, err := strconv.Atoi(string(digits[:end]))
				if err == nil && n > 0 {
					return n
				}
			}
		}
	}
	return 0
}

// StaleAnswer is the answer of a call that ran in another world than it was meant for.
const StaleAnswer = `{"stale":true}`

// CallAt is the invocation of a function of the page library. It is an
// expression, because Runtime.callFunctionOn compiles each of its arguments as a
// script of its own: that takes 15 to 20 µs more. It runs only while the document has an origin, as OriginOf gives it,
// "" for any. Otherwise it is stale: the origin is of a document that was there before.
func CallAt(token, origin, fn string, args []byte) Invocation {
	b := make([]byte, 0, 384+len(args)+len(args)/4)
	b = append(append(b, `{"expression":"globalThis.outriderWorld!=='`...), token...)
	b = append(b, '\'')
	if origin != "" {
		b = cdp.AppendLiteral(append(b, `||self.origin!=='`...), []byte(origin))
		b = append(b, '\'')
	}
	b = cdp.AppendLiteral(append(b, `?'{\"stale\":true}':outrider('`...), []byte(fn))
	b = cdp.AppendLiteral(append(b, `','`...), args)
	return Invocation{evaluate: append(b, `')","awaitPromise":true,"returnByValue":true`...)}
}

// Origin is whose document it is.
type Origin struct {
	Origin string `json:"origin"` // "null" for one that no other document shares
	Scheme string `json:"scheme"` // of its address, with a colon
	Host   string `json:"host"`   // of its address, with the port
}

// OriginOf answers with the Origin of the document. In our world nobody has changed what
// it reads.
func OriginOf(token string) Invocation {
	b := append([]byte(`{"expression":"globalThis.outriderWorld!=='`), token...)
	b = append(b, `'?'{\"stale\":true}':JSON.stringify({ok:true,value:{origin:self.origin,scheme:location.protocol,`+
		`host:location.host}})"`...)
	return Invocation{evaluate: append(b, `,"awaitPromise":true,"returnByValue":true`...)}
}

// Invocation is one Runtime.callFunctionOn in our world or on an object of it, or
// one Runtime.evaluate there.
type Invocation struct {
	evaluate []byte // the parameters of Runtime.evaluate but the context, when it is that
	Function string
	Args     []string
	Object   string // "" calls in the world's global scope
	ByValue  bool
	// WithoutLibrary needs our world but not the library. In a new document the call does not wait until
	// the library is installed.
	WithoutLibrary bool
	// Observe, when set, is called by the reader with the answer.
	Observe func(cdp.Reply)
}

// Command is the command that runs the invocation in a world of a session.
func (v Invocation) Command(s *cdp.Session, w *World) cdp.Command {
	if v.evaluate != nil {
		b := strconv.AppendInt(append(v.evaluate, `,"contextId":`...), int64(w.Context), 10)
		return cdp.Command{Session: s.ID, Method: "Runtime.evaluate", Params: append(b, '}')}
	}
	n := 256 + len(v.Function)
	for _, a := range v.Args {
		n += len(a) + len(a)/8
	}
	b := make([]byte, 0, n)
	b = append(b, `{"functionDeclaration":`...)
	b = cdp.AppendQuoted(b, v.Function)
	if v.Object != "" {
		b = cdp.AppendQuoted(append(b, `,"objectId":`...), v.Object)
	} else {
		b = strconv.AppendInt(append(b, `,"executionContextId":`...), int64(w.Context), 10)
	}
	b = append(b, `,"arguments":[`...)
	for i, a := range v.Args {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(cdp.AppendQuoted(append(b, `{"value":`...), a), '}')
	}
	b = append(b, `],"awaitPromise":true,"returnByValue":`...)
	b = strconv.AppendBool(b, v.ByValue)
	if !v.ByValue {
		b = append(b, `,"objectGroup":"outrider"`...)
	}
	return cdp.Command{Session: s.ID, Method: "Runtime.callFunctionOn", Params: append(b, '}'), Observe: v.Observe}
}
