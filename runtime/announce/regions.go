// Package announce reports what a page says by itself: its live regions, and what
// happens to the overlay on it. It listens beside the calls of a tab and answers
// none. The runtime makes one of each for every tab; primitives start them.
package announce

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	tabsession "github.com/outrider-run/outrider/primitives/session"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/observe"
)

// Event is the name of the events that report texts of live regions;
// the payload is a session.Announcement with delivery: what the agent behind
// a bridge wants of it, "inject", "buffer" or "off".
const Event = "a11y.announcement"

const (
	// announceIdleTime bounds one wait in a document without announcements.
	announceIdleTime = 15 * time.Second
	// announceRest is the pause before a frame that could not be called is called
	// again: a dialog is open, or its document is just being replaced.
	announceRest = 250 * time.Millisecond
	// maxListened bounds the frames of a tab that are listened to.
	maxListened = 64
)

// batch is the answer of the page library's announcements.
type batch struct {
	Heard []struct {
		Text       string `json:"text"`
		Politeness string `json:"politeness"`
		Region     string `json:"region"`
		RegionRole string `json:"region_role"`
		Relevant   string `json:"relevant"`
		Interrupt  bool   `json:"interrupt"`
	} `json:"heard"`
	Batches int  `json:"batches"`
	Frames  bool `json:"frames"`
	Regions int  `json:"regions"`
	Answer  int  `json:"answer"` // number of this answer in its document
}

// Tab is the tab that is listened to.
type Tab interface {
	observe.Pages
	ID() int
	Status() call.TabStatus
	// CallID is the id of the call that runs, or ran last.
	CallID() string
	Emit(call.Event)
	// Context ends when the tab is closed. Go runs f beside the calls; the host
	// waits for it. It is false when the host is closed.
	Context() context.Context
	Go(f func()) bool
}

// Regions listens to the live regions of one tab until the tab is closed.
type Regions struct {
	tab   Tab
	store func() *tabsession.Announcements

	once    sync.Once
	changed chan struct{} // buffered, 1: the frames may have changed

	mu      sync.Mutex
	frames  map[primitives.FrameID]bool // listened to
	regions map[primitives.FrameID]int
	answers map[primitives.FrameID]int // the last answer that was kept
	kept    chan struct{}              // closed, and replaced, when one was
}

// NewRegions is for one tab; store is where its announcements are kept.
func NewRegions(tab Tab, store func() *tabsession.Announcements) *Regions {
	return &Regions{
		tab:     tab,
		store:   store,
		changed: make(chan struct{}, 1),
		frames:  map[primitives.FrameID]bool{},
		regions: map[primitives.FrameID]int{},
		answers: map[primitives.FrameID]int{},
		kept:    make(chan struct{}),
	}
}

// Listen starts to listen and returns when every frame does. Its page calls take
// no place in the tab's queue.
func (a *Regions) Listen(ctx context.Context) error {
	page, err := a.tab.LivePage(ctx)
	if err != nil {
		return err
	}
	a.once.Do(func() { a.tab.Go(func() { a.listen(a.tab.Context()) }) })
	for i, f := range page.Frames() {
		answer, err := a.evaluate(ctx, page, f.ID, 0)
		if err != nil && i == 0 {
			return err
		}
		if err == nil {
			a.settle(ctx, f.ID, answer)
		}
	}
	a.framesChanged()
	return nil
}

// settle waits until the answers before this one are kept: the wait that it
// ended may have been answered with something and not have come so far.
func (a *Regions) settle(ctx context.Context, frame primitives.FrameID, answer int) {
	timer := time.NewTimer(announceRest)
	defer timer.Stop()
	for {
		a.mu.Lock()
		last, kept := a.answers[frame], a.kept
		a.mu.Unlock()
		if last >= answer-1 {
			return
		}
		select {
		case <-kept:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (a *Regions) framesChanged() {
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

// listen has one pending wait in every frame.
func (a *Regions) listen(ctx context.Context) {
	var waits sync.WaitGroup
	defer waits.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for ctx.Err() == nil {
		page, err := a.tab.LivePage(ctx)
		if err != nil {
			return
		}
		for _, f := range page.Frames() {
			a.mu.Lock()
			wanted := !a.frames[f.ID] && len(a.frames) < maxListened
			if wanted {
				a.frames[f.ID] = true
			}
			a.mu.Unlock()
			if wanted {
				waits.Go(func() {
					a.listenFrame(ctx, page, f.ID)
					a.mu.Lock()
					delete(a.frames, f.ID)
					delete(a.regions, f.ID)
					delete(a.answers, f.ID)
					a.mu.Unlock()
					a.framesChanged()
				})
			}
		}
		timer := time.NewTimer(announceIdleTime)
		select {
		case <-a.changed:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// listenFrame waits in one frame until it is detached.
func (a *Regions) listenFrame(ctx context.Context, page primitives.Page, frame primitives.FrameID) {
	for ctx.Err() == nil {
		switch answer, err := a.evaluate(ctx, page, frame, announceIdleTime); {
		case err == nil:
			a.mu.Lock()
			a.answers[frame] = answer
			close(a.kept)
			a.kept = make(chan struct{})
			a.mu.Unlock()
		case observe.Detached(page) || fault.CodeOf(err) == fault.FrameNotFound:
			return
		case fault.CodeOf(err) == fault.PageNavigated: // the new document is next
		default:
			observe.Pause(ctx, announceRest)
		}
	}
}

// evaluate calls one frame once, stores its announcements and returns the number of the
// answer.
func (a *Regions) evaluate(
	ctx context.Context, page primitives.Page, frame primitives.FrameID, wait time.Duration,
) (answer int, err error) {
	ctx, cancel := context.WithTimeout(ctx, wait+announceIdleTime)
	defer cancel()
	var out batch
	if err := page.Call(
		ctx, frame, "announcements", map[string]any{"timeout_ms": wait.Milliseconds()}, &out,
	); err != nil {
		return 0, err
	}
	a.mu.Lock()
	a.regions[frame] = out.Regions
	regions := 0
	for _, n := range a.regions {
		regions += n
	}
	a.mu.Unlock()
	store := a.store()
	store.Observed(a.tab.ID(), regions, out.Batches)
	if out.Frames {
		a.framesChanged()
	}
	status := a.tab.Status()
	for _, one := range out.Heard {
		n, ok := store.Add(tabsession.Announcement{
			Text:       one.Text,
			Politeness: one.Politeness,
			Region:     one.Region,
			RegionRole: one.RegionRole,
			Relevant:   one.Relevant,
			Interrupt:  one.Interrupt,
			Tab:        a.tab.ID(),
			RuntimeKey: status.RuntimeKey,
		}, frame, time.Now())
		if !ok {
			continue
		}
		payload, err := json.Marshal(struct {
			tabsession.Announcement
			Delivery string `json:"delivery"`
		}{n, store.DeliveryTo("mcp", n)})
		if err == nil {
			a.tab.Emit(call.Event{Kind: call.DOMEvent, Tab: status, Name: Event, PageEvent: Event, Payload: payload})
		}
	}
	return out.Answer, nil
}
