package world

import (
	"crypto/rand"
	"strconv"
	"sync"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/inject"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// Name is the name of our isolated world in every frame.
const Name = "outrider"

// OfferCommand gives each document that comes to a session a function that installs the page library. It is sent once:
// the library is longer than the pipe to the browser holds, and takes longer to arrive than to run.
func OfferCommand(s *cdp.Session) cdp.Command {
	const head, tail = `{"source":"globalThis.outriderInstall=()=>{`, `};","worldName":"` + Name + `"}`
	source := library()
	b := make([]byte, 0, len(source)+len(head)+len(tail))
	b = append(append(b, head...), source[1:len(source)-1]...)
	return cdp.Command{
		Session: s.ID,
		Method:  "Page.addScriptToEvaluateOnNewDocument",
		Params:  append(b, tail...),
	}
}

// InstallCommand installs the page library, which does nothing where it is
// installed already. It is for documents without the function of OfferCommand. Its text is the same each time: the
// browser compiles it once for a process, which saves more than half of what it costs.
func InstallCommand(s *cdp.Session, w *World) cdp.Command {
	source := library()
	b := make([]byte, 0, len(source)+64)
	b = append(b, `{"expression":`...)
	b = append(b, source...)
	return evaluateQuietly(s, w, b)
}

// BeginCommand installs the library where the document has the function of OfferCommand, and sets the token of a
// world and where the refs of its document begin. Began reads its answer.
func BeginCommand(s *cdp.Session, w *World, refPrefix string, refFrom int) cdp.Command {
	b := append([]byte(nil), `{"expression":"if(Object.hasOwn(globalThis,'outriderInstall'))outriderInstall();`+
		`Object.hasOwn(globalThis,'outrider')&&(globalThis.outrider.numberRefs('`...)
	b = append(append(b, refPrefix...), `',`...)
	b = append(append(strconv.AppendInt(b, int64(refFrom), 10), `),globalThis.outriderWorld='`...), w.Token...)
	return evaluateQuietly(s, w, append(b, `',true)"`...))
}

// Began reports whether BeginCommand found the library. Otherwise it has done nothing.
func Began(result []byte) bool {
	return string(cdp.Member(cdp.Member(result, "result"), "value")) != "false"
}

// ClaimCommand sets the token of a world that gets no library of its own for now, and says where
// the refs of its document begin: the library of the document around it reads it.
func ClaimCommand(s *cdp.Session, w *World, refPrefix string, refFrom int) cdp.Command {
	b := append([]byte(`{"expression":"globalThis.outriderWorld='`), w.Token...)
	b = append(append(b, `';globalThis.outriderRefs=['`...), refPrefix...)
	b = strconv.AppendInt(append(b, `',`...), int64(refFrom), 10)
	return evaluateQuietly(s, w, append(b, `];0"`...))
}

func evaluateQuietly(s *cdp.Session, w *World, params []byte) cdp.Command {
	params = append(params, `,"returnByValue":true,"silent":true,"contextId":`...)
	params = strconv.AppendInt(params, int64(w.Context), 10)
	return cdp.Command{Session: s.ID, Method: "Runtime.evaluate", Params: append(params, '}')}
}

// library is the page library as a JSON string, encoded once. It is full of
// arrows, which json.Marshal would write as six bytes each.
var library = sync.OnceValue(func() string {
	text, err := jsonout.Line(inject.Library() + "\n")
	if err != nil {
		panic(err) // a string always encodes
	}
	return string(text)
})

var tokens = struct {
	mu   sync.Mutex
	last uint64
}{}

// NewToken gives a text that no page can guess: a script of a page could run in a
// world whose context id was given again, and there learn a hash of the expression
// that our call is.
func NewToken() string {
	tokens.mu.Lock()
	defer tokens.mu.Unlock()
	tokens.last++
	return tokenPrefix + "." + strconv.FormatUint(tokens.last, 36)
}

var tokenPrefix = rand.Text()

// CreateCommand creates our isolated world of a frame.
func CreateCommand(s *cdp.Session, frame primitives.FrameID) cdp.Command {
	return cdp.Command{
		Session: s.ID,
		Method:  "Page.createIsolatedWorld",
		Params:  cdp.Object("frameId", string(frame), "worldName", Name),
	}
}
