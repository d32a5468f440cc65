package text

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/keys"
	"github.com/outrider-run/outrider/primitives/locator"
)

// insertionWatch gets from the page what came of a text that the browser inserted into a
// control. Its page call follows the one that selects, and waits in the page when the text comes:
// a call that comes after the text waits for the frame that the page draws then.
type insertionWatch struct {
	page   primitives.Page
	number int
	id     string
	frame  primitives.FrameID
	// placed: frame is where the control is. It is not known of what has the focus.
	placed bool
	answer chan inserted // of the call on its way; nil when there is none
	stop   context.CancelFunc
	// failed: the browser did not insert the text that the page watches for.
	failed bool
}

type inserted struct {
	out json.RawMessage
	err error
}

// insertionWait is how long after the browser has inserted a text the page may take to
// report it, before it is called again. A page that keeps the event from us reports nothing.
const insertionWait = 5 * time.Millisecond

// insertionIDs are the ids in use. The least free one is taken, not a new one each time: the browser keeps what it
// has compiled of a page call that it meets again.
var insertionIDs struct {
	sync.Mutex
	used []bool
}

func newInsertionWatch(p primitives.Page) *insertionWatch {
	insertionIDs.Lock()
	defer insertionIDs.Unlock()
	n := slices.Index(insertionIDs.used, false)
	if n < 0 {
		n = len(insertionIDs.used)
		insertionIDs.used = append(insertionIDs.used, false)
	}
	insertionIDs.used[n] = true
	return &insertionWatch{page: p, number: n, id: "i" + strconv.Itoa(n), stop: func() {}}
}

// begin sends the call that waits, once.
func (w *insertionWatch) begin(ctx context.Context) {
	if w.answer != nil {
		return
	}
	ctx, w.stop = context.WithCancel(ctx)
	answer := make(chan inserted, 1)
	w.answer = answer
	go func() { answer <- w.query(ctx, true) }()
}

func (w *insertionWatch) query(ctx context.Context, wait bool) (out inserted) {
	args := map[string]any{"id": w.id, "wait": wait}
	if w.placed {
		out.err = w.page.Call(ctx, w.frame, "text_inserted", args, &out.out)
	} else {
		args["focused"] = true
		out.err = locator.CallFocused(ctx, w.page, "text_inserted", args, &out.out)
	}
	return out
}

// result is the answer of the call on its way, which is over then. ok is false when the page
// did not know of an insertion.
func (w *insertionWatch) result(a inserted) (out json.RawMessage, ok bool, err error) {
	w.stop()
	w.answer = nil
	var known struct {
		Inserted bool `json:"inserted"`
	}
	if a.err == nil {
		a.err = json.Unmarshal(a.out, &known)
	}
	return a.out, known.Inserted || a.err != nil, a.err
}

// insert has the browser insert the text, and returns what the page says of it.
func (w *insertionWatch) insert(ctx context.Context, text string) (json.RawMessage, error) {
	w.begin(ctx)
	failed := w.page.InsertText(ctx, text)
	if failed == nil {
		wait := time.NewTimer(insertionWait)
		defer wait.Stop()
		select {
		case a := <-w.answer:
			if out, ok, err := w.result(a); ok {
				return out, err
			}
			w.begin(ctx) // it was in the page before the text was selected
		case <-wait.C:
		}
	}
	if failed != nil {
		w.failed = true
		return nil, failed
	}
	bound := keys.ReleaseBound
	if ctx.Err() != nil {
		bound = insertionWait // a blocked page ends the wait when it can, and the call has to be answered
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), bound)
	defer cancel()
	w.query(bounded, false) // the call that waits has the answer
	out, ok, err := w.result(<-w.answer)
	if !ok {
		return nil, fault.New(
			fault.PageNavigated, "the document or the focus was replaced while the text was inserted",
		).With("input_sent", true).Next("read the page before you repeat it")
	}
	return out, err
}

// drop has the page forget a watch of a call that has failed: text that comes later is no concern of it.
func (w *insertionWatch) drop(ctx context.Context) {
	if ctx.Err() == nil && !w.failed {
		return // the page has refused the text, and watches nothing
	}
	bound := keys.ReleaseBound
	if ctx.Err() != nil {
		bound = insertionWait // a blocked page ends the wait when it can, and the call has to be answered
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), bound)
	defer cancel()
	if w.placed {
		_ = w.page.Call(bounded, w.frame, "text_inserted", map[string]any{"id": w.id, "drop": true}, nil)
	} else {
		args := map[string]any{"id": w.id, "drop": true, "focused": true}
		_ = locator.CallFocused(bounded, w.page, "text_inserted", args, nil)
	}
	w.stop()
}

// end waits for the call on its way, which has been answered with nothing when nothing was inserted.
func (w *insertionWatch) end() {
	if w.answer != nil {
		<-w.answer
	}
	w.stop()
	insertionIDs.Lock()
	defer insertionIDs.Unlock()
	insertionIDs.used[w.number] = false
}
