package attach

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/observe"
)

// attachPatience is how long the first answer of a document may keep those behind
// it waiting, which show only what it leaves of max_instances.
const attachPatience = time.Second

// attachmentAnswer is the answer of attachments.js about one document.
type attachmentAnswer struct {
	Revision    string           `json:"revision"`
	Document    string           `json:"document"`
	Attachments []attachedInside `json:"attachments"`
	Activations []struct {
		ID  string `json:"id"`
		How string `json:"how"` // click, keys
	} `json:"activations"`
}

// attachedInside is an attachment in one document.
type attachedInside struct {
	ID        string `json:"id"`
	State     string `json:"state"`
	Candidate string `json:"candidate"`
	Instances int    `json:"instances"`
}

// manager keeps on the documents of a tab what its maps attach: each document has
// one page call at a time, which it answers when something has changed. It
// belongs to one goroutine.
type manager struct {
	*Attachments
	calls   sync.WaitGroup
	answers chan frameAnswer

	frames []*frame // in document order, the main frame first
	beyond bool     // there are more than are observed

	document  string // the main one that the following are of
	turn      int64  // of attachments.documents
	had, lost map[string]bool
}

// frame is a document and what it is known to show.
type frame struct {
	info    primitives.FrameInfo
	main    bool
	page    primitives.Page
	ctx     context.Context // of its page calls; ends with the frame
	cancel  context.CancelFunc
	called  string    // the items of the newest page call
	asleep  bool      // no page call is open
	serial  int       // of the newest page call
	began   time.Time // of the wait until it is settled
	settled bool      // it has answered for these items, or cannot
	drawn   bool      // it may show something of ours
	answer  attachmentAnswer
}

type frameAnswer struct {
	frame  *frame
	serial int
	out    attachmentAnswer
	err    error
}

func (f *frame) inside(id string) (attachedInside, bool) {
	for _, a := range f.answer.Attachments {
		if a.ID == id {
			return a, true
		}
	}
	return attachedInside{}, false
}

// call is a page call to the frame. The main frame is followed into other
// documents.
func (f *frame) call(ctx context.Context, fn string, args, out any) error {
	id := f.info.ID
	if f.main {
		id = ""
	}
	return f.page.Call(ctx, id, fn, args, out)
}

// Run keeps on the page what its maps attach, until ctx ends: the tab was closed.
func (t *Attachments) Run(ctx context.Context) {
	k := &manager{Attachments: t, answers: make(chan frameAnswer), had: map[string]bool{}, lost: map[string]bool{}}
	defer k.calls.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer func() {
		if t.Leaves {
			k.clear(context.WithoutCancel(ctx))
		}
	}()
	for ctx.Err() == nil {
		page, err := t.tab.LivePage(ctx)
		if err != nil {
			return
		}
		rows, items := k.plan(ctx, page)
		k.evaluate(items)
		if !slices.ContainsFunc(k.frames, (*frame).pending) {
			k.judge(rows)
			t.note(rows)
		}
		select {
		case a := <-k.answers:
			for _, used := range k.take(a) {
				for _, r := range rows {
					if r.ID == used.id {
						r.frame = used.frame
						t.activate(r, used.how)
					}
				}
			}
		case <-t.wake:
		case <-ctx.Done():
		}
	}
}

// pending reports whether the report of a document is still to be waited for.
func (f *frame) pending() bool { return !f.settled && time.Since(f.began) < attachPatience }

// plan lists what belongs on the page: the attachments of its maps, and for
// each of its documents those that it may show.
func (k *manager) plan(ctx context.Context, page primitives.Page) (rows []attachedRow, items [][]attachmentSpec) {
	url := page.Tab().URL
	var offered []Offered
	if o := k.Maps.At(url); o.Library != nil {
		offered = OfferedBy(o.Library, o.Library.For(url))
	}
	k.framed.Store(len(offered) > 0)
	if turn := k.documents.Load(); turn != k.turn {
		k.turn = turn
		clear(k.had)
		clear(k.lost)
		if len(k.frames) > 0 { // its answer may be of the document before
			k.frames[0].answer, k.frames[0].called = attachmentAnswer{}, ""
		}
	}
	if len(offered) == 0 && !slices.ContainsFunc(k.frames, func(f *frame) bool { return f.drawn }) {
		k.followFrames(ctx, page, nil)
		return nil, nil
	}
	list := page.Frames()
	if len(list) == 0 {
		list = []primitives.FrameInfo{{URL: url}}
	}
	k.followFrames(ctx, page, list)
	items = make([][]attachmentSpec, len(k.frames))
	for _, a := range offered {
		row := attachedRow{Offered: a, state: Unattached, reason: awayTarget}
		spec := a.spec()
		switch away := k.keptAway(a); {
		case away != "":
			row.reason = away
		case a.attachment.Kind == "shortcut" && spec.Keys == nil:
			row.reason = awayKeys
		default:
			row.reason = k.share(url, a, spec, items)
		}
		rows = append(rows, row)
	}
	return rows, items
}

// share gives each document its part of an attachment: the first documents show
// as many as they can, the next ones what is left of max_instances. It returns
// why it would not be on the page.
func (k *manager) share(url string, a Offered, spec attachmentSpec, items [][]attachmentSpec) (reason string) {
	reason = awayURL
	holds := !k.certainlyNot(a.in, a.attachment.Target.State)
	everywhere := spec.Target.OnPage(url)
	total := 0
	for _, f := range k.frames {
		in, _ := f.inside(a.ID)
		total += in.Instances
	}
	left := spec.MaxInstances
	for i, f := range k.frames {
		here := spec
		in, known := f.inside(a.ID)
		matches := everywhere || !f.main && spec.Target.OnPage(f.info.URL)
		if matches {
			reason = awayTarget
			if !holds {
				reason = awayState
			}
		}
		here.Present, here.MaxInstances = matches && holds, left
		here.Epoch = url
		if !f.main {
			here.Epoch += "\n" + f.info.URL
		}
		here.Elsewhere = a.attachment.Kind == "shortcut" && holds && total > in.Instances
		left = max(0, left-in.Instances)
		// A document never forgets what it was given: what was lost there may not
		// be drawn again under every policy.
		present := here.Present && here.MaxInstances > 0
		if present || known && (here.MaxInstances > 0 || in.Instances > 0) || here.Elsewhere {
			items[i] = append(items[i], here)
		}
	}
	return reason
}

// followFrames follows the frames of the page.
func (k *manager) followFrames(ctx context.Context, page primitives.Page, list []primitives.FrameInfo) {
	k.beyond = len(list) > maxAttachFrames
	list = list[:min(len(list), maxAttachFrames)]
	was := k.frames
	k.frames = make([]*frame, 0, len(list))
	for i, info := range list {
		j := slices.IndexFunc(was, func(f *frame) bool { return f.info.ID == info.ID && f.main == (i == 0) })
		var f *frame
		if j >= 0 {
			f = was[j]
			was = slices.Delete(slices.Clone(was), j, j+1)
		} else {
			f = &frame{main: i == 0, asleep: true}
			f.ctx, f.cancel = context.WithCancel(ctx)
		}
		f.info, f.page = info, page
		k.frames = append(k.frames, f)
	}
	for _, f := range was {
		f.cancel()
		k.losing(f)
	}
}

// losing notes that what a document shows is going with it.
func (k *manager) losing(f *frame) {
	for _, a := range f.answer.Attachments {
		if a.Instances > 0 {
			k.lost[a.ID] = true
		}
	}
	f.answer = attachmentAnswer{}
	f.called = ""
	f.settled = false
	f.drawn = false
}

// evaluate has each document answer for what it is to show.
func (k *manager) evaluate(items [][]attachmentSpec) {
	for i, f := range k.frames {
		mine := append([]attachmentSpec{}, items[i]...)
		text, err := json.Marshal(mine)
		if err != nil {
			continue
		}
		switch changed := string(text) != f.called; {
		case len(mine) == 0 && !f.drawn:
			f.settled = true
		case changed:
			f.settled, f.began = false, time.Now()
			time.AfterFunc(attachPatience, k.Refresh)
			fallthrough
		case f.asleep:
			k.call(f, mine, string(text))
		}
		if f.pending() {
			return
		}
	}
}

// call calls a document, which ends an earlier call to it.
func (k *manager) call(f *frame, items []attachmentSpec, text string) {
	idle := attachIdleTime
	if len(items) == 0 {
		idle = 0 // it answers at once, and shows nothing
	}
	f.serial++
	f.called = text
	f.asleep = false
	f.drawn = true
	seen := ""
	if f.settled { // else it is to answer at once
		seen = f.answer.Revision
	}
	args := map[string]any{"items": items, "seen": seen, "timeout_ms": idle.Milliseconds()}
	a, ctx := frameAnswer{frame: f, serial: f.serial}, f.ctx
	as := *f // this frame as it is at this moment
	k.calls.Go(func() {
		bounded, end := context.WithTimeout(ctx, 2*attachIdleTime)
		defer end()
		a.err = as.call(bounded, "attachments", args, &a.out)
		if a.err != nil && fault.CodeOf(a.err) != fault.PageNavigated {
			k.Log.Debug("drawing attachments", "tab", k.tab.ID(), "error", a.err)
			observe.Pause(ctx, attachRest)
		}
		select {
		case k.answers <- a:
		case <-ctx.Done():
		}
	})
}

// usedAttachment is an attachment that somebody used.
type usedAttachment struct {
	id, how string
	frame   primitives.FrameID
}

// take takes over an answer and returns what was used.
func (k *manager) take(a frameAnswer) (used []usedAttachment) {
	f := a.frame
	frame := f.info.ID
	if f.main {
		frame = ""
	}
	for _, each := range a.out.Activations {
		used = append(used, usedAttachment{each.ID, each.How, frame})
	}
	if a.serial != f.serial || f.ctx.Err() != nil {
		return used // a newer call is open, or the frame is detached
	}
	f.asleep = true
	if a.err != nil {
		if fault.CodeOf(a.err) == fault.PageNavigated {
			k.losing(f)
			return used
		}
		// A dialog is open, or it hangs: what it shows is as it was, and nobody
		// need wait for it.
		f.answer.Revision, f.settled = "", true
		return used
	}
	if f.main && a.out.Document != k.document {
		k.document = a.out.Document
		clear(k.had)
		clear(k.lost)
	} else if f.answer.Document != "" && f.answer.Document != a.out.Document {
		called := f.called
		k.losing(f)
		f.called = called
	}
	f.answer, f.settled = a.out, true
	f.drawn = f.called != "[]"
	return used
}

// judge says where attachments stand, from what the documents answered.
func (k *manager) judge(rows []attachedRow) {
	for i := range rows {
		r := &rows[i]
		drifted := false
		stale := false
		again := k.lost[r.ID]
		for _, f := range k.frames {
			in, _ := f.inside(r.ID)
			if in.Candidate != "" && r.instances == 0 {
				r.candidate = in.Candidate
			}
			if in.Instances > 0 && r.instances == 0 {
				r.state = in.State
				if !f.main {
					r.frameURL = fault.Clip(f.info.URL, maxAffordanceText)
				}
			}
			r.instances += in.Instances
			drifted = drifted || in.State == Drifted
			stale = stale || in.State == Stale
			again = again || in.State == Reattached
		}
		switch {
		case r.instances > 0:
			r.reason = ""
			if r.state == Attached && again {
				r.state = Reattached
			}
			k.had[r.ID] = true
		case r.reason == awayURL, r.reason == awayState:
			r.state = WrongContext // in its context it begins anew
			delete(k.had, r.ID)
			delete(k.lost, r.ID)
		case r.reason != awayTarget:
		case drifted:
			r.state, r.reason = Drifted, awayDrift
		case stale || k.had[r.ID]:
			r.state = Stale
		}
		if r.reason == awayTarget {
			k.lost[r.ID] = k.had[r.ID]
			if k.beyond {
				r.reason = awayFrames
			}
		}
	}
}

// clear takes everything off the page that can be removed within a second.
func (k *manager) clear(ctx context.Context) {
	bounded, end := context.WithTimeout(ctx, time.Second)
	defer end()
	var all sync.WaitGroup
	for _, f := range k.frames {
		if f.drawn {
			all.Go(func() {
				_ = f.call(bounded, "attachments", map[string]any{"items": []attachmentSpec{}, "timeout_ms": 0}, nil)
			})
		}
	}
	all.Wait()
}
