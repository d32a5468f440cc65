package runtime

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	tabsession "github.com/outrider-run/outrider/primitives/session"
	"github.com/outrider-run/outrider/runtime/observe"
)

// AnnouncementEvent is the name of the events that tell what live regions said;
// the payload is a session.Announcement with delivery: what the agent behind
// a bridge wants of it, "inject", "buffer" or "off".
const AnnouncementEvent = "a11y.announcement"

const (
	// announceSilence bounds one wait in a document without announcements.
	announceSilence = 15 * time.Second
	// announceRest is the pause before a frame that could not be asked is asked
	// again: a dialog is open, or its document is just being replaced.
	announceRest = 250 * time.Millisecond
	// maxListened bounds the frames of a tab that are listened to.
	maxListened = 64
)

// heard is what the page library's announcements answers.
type heard struct {
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

// announcer listens to the live regions of one tab until the tab is gone.
type announcer struct {
	once    sync.Once
	changed chan struct{} // buffered, 1: the frames may have changed

	mu      sync.Mutex
	frames  map[primitives.FrameID]bool // listened to
	regions map[primitives.FrameID]int
	answers map[primitives.FrameID]int // the last answer that was kept
	kept    chan struct{}              // closed, and replaced, when one was
}

// Listen implements session.Announcing. Questions of an announcer take no
// place in the tab's queue.
func (s session) Listen(ctx context.Context, tabID int) error {
	t, err := s.host.tabIn(s.tab.group(), tabID)
	if err != nil {
		return err
	}
	page, err := t.LivePage(ctx)
	if err != nil {
		return err
	}
	a := &t.announcer
	a.once.Do(func() {
		a.changed = make(chan struct{}, 1)
		a.frames, a.regions = map[primitives.FrameID]bool{}, map[primitives.FrameID]int{}
		a.answers, a.kept = map[primitives.FrameID]int{}, make(chan struct{})
		t.host.mu.Lock()
		defer t.host.mu.Unlock()
		if !t.host.closed {
			t.host.life.Go(func() { t.listen(t.host.ctx) })
		}
	})
	for i, f := range page.Frames() {
		answer, err := t.hear(ctx, page, f.ID, 0)
		if err != nil && i == 0 {
			return err
		}
		if err == nil {
			a.settle(ctx, f.ID, answer)
		}
	}
	a.look()
	return nil
}

// settle waits until the answers before this one are kept: the wait that it
// ended may have been answered with something and not have come so far.
func (a *announcer) settle(ctx context.Context, frame primitives.FrameID, answer int) {
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

func (a *announcer) look() {
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

// listen keeps one wait in every frame.
func (t *Tab) listen(ctx context.Context) {
	var waits sync.WaitGroup
	defer waits.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	waits.Go(func() {
		select {
		case <-t.gone:
			cancel()
		case <-ctx.Done():
		}
	})
	a := &t.announcer
	for ctx.Err() == nil {
		page, err := t.LivePage(ctx)
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
					t.listenFrame(ctx, page, f.ID)
					a.mu.Lock()
					delete(a.frames, f.ID)
					delete(a.regions, f.ID)
					delete(a.answers, f.ID)
					a.mu.Unlock()
					a.look()
				})
			}
		}
		timer := time.NewTimer(announceSilence)
		select {
		case <-a.changed:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// listenFrame waits in one frame until it is gone.
func (t *Tab) listenFrame(ctx context.Context, page primitives.Page, frame primitives.FrameID) {
	for ctx.Err() == nil {
		switch answer, err := t.hear(ctx, page, frame, announceSilence); {
		case err == nil:
			a := &t.announcer
			a.mu.Lock()
			a.answers[frame] = answer
			close(a.kept)
			a.kept = make(chan struct{})
			a.mu.Unlock()
		case ended(page) || fault.CodeOf(err) == fault.FrameNotFound:
			return
		case fault.CodeOf(err) == fault.PageNavigated: // the new document is next
		default:
			observe.Pause(ctx, announceRest)
		}
	}
}

// hear asks one frame once, keeps what it heard and returns the number of the
// answer.
func (t *Tab) hear(ctx context.Context, page primitives.Page, frame primitives.FrameID, wait time.Duration) (answer int, err error) {
	ctx, cancel := context.WithTimeout(ctx, wait+announceSilence)
	defer cancel()
	var out heard
	if err := page.Call(ctx, frame, "announcements", map[string]any{"timeout_ms": wait.Milliseconds()}, &out); err != nil {
		return 0, err
	}
	a := &t.announcer
	a.mu.Lock()
	a.regions[frame] = out.Regions
	regions := 0
	for _, n := range a.regions {
		regions += n
	}
	a.mu.Unlock()
	store := &t.records().announcements
	store.Observed(t.id, regions, out.Batches)
	if out.Frames {
		a.look()
	}
	status := t.Status()
	for _, said := range out.Heard {
		n, ok := store.Add(tabsession.Announcement{
			Text: said.Text, Politeness: said.Politeness, Region: said.Region, RegionRole: said.RegionRole,
			Relevant: said.Relevant, Interrupt: said.Interrupt, Tab: t.id, RuntimeKey: status.RuntimeKey,
		}, frame, time.Now())
		if !ok {
			continue
		}
		payload, err := json.Marshal(struct {
			tabsession.Announcement
			Delivery string `json:"delivery"`
		}{n, store.DeliveryTo("mcp", n)})
		if err == nil {
			t.host.emit(Event{Kind: DOMEvent, Tab: status, Name: AnnouncementEvent, PageEvent: AnnouncementEvent, Payload: payload})
		}
	}
	return out.Answer, nil
}
