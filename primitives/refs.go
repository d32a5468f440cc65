package primitives

import (
	"strconv"
	"sync"

	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Refs has the refs that were given to the elements of a tab. A
// ref is short ("e12" in the main frame, "f3e7" in another), names one element
// for as long as its document lives, and is never given twice in a tab: a
// document goes on counting where the one before it in the frame ended.
//
// The page library gives the refs and keeps the elements; this is the side that
// knows the frames. The zero value is ready. It is safe for concurrent use.
type Refs struct {
	mu     sync.Mutex
	frames []refFrame // by number; the main frame is 0
	byID   map[FrameID]int

	kept []kept // Newest last
	last int    // number of the newest
}

type refFrame struct {
	id   FrameID
	next int
}

// mainRefs is the number of the main frame, whatever id it has.
const mainRefs = 0

func (r *Refs) number(frame FrameID) int {
	if len(r.frames) == 0 {
		r.frames = []refFrame{{next: 1}}
		r.byID = map[FrameID]int{"": mainRefs}
	}
	n, ok := r.byID[frame]
	if !ok {
		n = len(r.frames)
		r.frames = append(r.frames, refFrame{id: frame, next: 1})
		r.byID[frame] = n
	}
	return n
}

// Begin returns how the refs of a new document begin: the prefix of its frame
// and the first number. The empty id is the main frame.
func (r *Refs) Begin(frame FrameID) (prefix string, from int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.number(frame)
	if n != mainRefs {
		prefix = "f" + strconv.Itoa(n)
	}
	return prefix, r.frames[n].next
}

// Given notes that all numbers of a frame below next may be in use.
func (r *Refs) Given(frame FrameID, next int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.number(frame)
	r.frames[n].next = max(r.frames[n].next, next)
}

var refForm = lazyregexp.New(`^(?:f([1-9][0-9]{0,8}))?e[1-9][0-9]{0,14}$`)

// Frame returns the frame in which ref was given; the empty id is the main
// frame. A ref that no frame of this tab can have given is element_stale.
func (r *Refs) Frame(ref string) (FrameID, error) {
	m := refForm().FindStringSubmatch(ref)
	if m == nil {
		return "", StaleRef(ref, "unknown", "this is not a ref: refs look like e12 or f3e7")
	}
	if m[1] == "" {
		return "", nil
	}
	n, err := strconv.Atoi(m[1])
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || n >= len(r.frames) {
		return "", StaleRef(ref, "unknown", "no frame of this tab has given this ref")
	}
	return r.frames[n].id, nil
}

func StaleRef(ref, reason, message string) *fault.Error {
	return fault.New(fault.ElementStale, "%s", message).With("ref", CutText(ref, 40)).With("reason", reason).
		Next("take a new page.snapshot")
}
