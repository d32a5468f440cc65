package runtime

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

// attachPatience is how long the first look at a document may keep those behind
// it waiting, which show only what it leaves of max_instances.
const attachPatience = time.Second

// attachmentAnswer is what attachments.js answers of one document.
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

// keeper keeps on the documents of a tab what its maps attach: each document is
// asked one question at a time, which it answers when something has changed. It
// belongs to one goroutine.
type keeper struct {
	tab     *Tab
	asking  sync.WaitGroup
	answers chan frameAnswer

	frames []*keptFrame // in document order, the main frame first
	beyond bool         // there are more than are looked at

	document  string // the main one that the following are of
	turn      int64  // of attachments.documents
	had, lost map[string]bool
}

// keptFrame is a document and what it is known to show.
type keptFrame struct {
	info    primitives.FrameInfo
	main    bool
	page    primitives.Page
	ctx     context.Context // of its questions; ends with the frame
	cancel  context.CancelFunc
	asked   string    // the items of the newest question
	asleep  bool      // no question is open
	serial  int       // of the newest question
	began   time.Time // of the wait until it is settled
	settled bool      // it has answered for these items, or cannot
	drawn   bool      // it may show something of ours
	answer  attachmentAnswer
}

type frameAnswer struct {
	frame  *keptFrame
	serial int
	out    attachmentAnswer
	err    error
}

func (f *keptFrame) inside(id string) (attachedInside, bool) {
	for _, a := range f.answer.Attachments {
		if a.ID == id {
			return a, true
		}
	}
	return attachedInside{}, false
}

// call asks the page library of the frame. The main frame is followed into other
// documents.
func (f *keptFrame) call(ctx context.Context, fn string, args, out any) error {
	id := f.info.ID
	if f.main {
		id = ""
	}
	return f.page.Call(ctx, id, fn, args, out)
}

// keepAttachments keeps on the page what its maps attach, until the tab is gone.
func (t *Tab) keepAttachments() {
	k := &keeper{tab: t, answers: make(chan frameAnswer), had: map[string]bool{}, lost: map[string]bool{}}
	defer k.asking.Wait()
	ctx, cancel := context.WithCancel(t.host.ctx)
	defer cancel()
	k.asking.Go(func() {
		select {
		case <-t.gone:
			cancel()
		case <-ctx.Done():
		}
	})
	defer func() {
		if t.host.opts.Browser.Attach != "" { // a browser that lives on
			k.clear(context.WithoutCancel(ctx))
		}
	}()
	for ctx.Err() == nil {
		page, err := t.LivePage(ctx)
		if err != nil {
			return
		}
		rows, items := k.plan(ctx, page)
		k.ask(items)
		if !slices.ContainsFunc(k.frames, (*keptFrame).pending) {
			k.judge(rows)
			t.noteAttachments(rows)
		}
		select {
		case a := <-k.answers:
			for _, used := range k.take(a) {
				for _, r := range rows {
					if r.id == used.id {
						r.frame = used.frame
						t.activate(r, used.how)
					}
				}
			}
		case <-t.attachments.wake:
		case <-ctx.Done():
		}
	}
}

// pending says whether what a document says is still to be waited for.
func (f *keptFrame) pending() bool { return !f.settled && time.Since(f.began) < attachPatience }

// plan says what belongs on the page now: the attachments of its maps, and for
// each of its documents those that it may show.
func (k *keeper) plan(ctx context.Context, page primitives.Page) (rows []attachedRow, items [][]attachmentSpec) {
	url := page.Tab().URL
	var offered []offeredAttachment
	if o := k.tab.host.opts.Maps.At(url); o.Library != nil {
		offered = attachmentsOffered(o.Library, o.Library.For(url))
	}
	k.tab.attachments.framed.Store(len(offered) > 0)
	if turn := k.tab.attachments.documents.Load(); turn != k.turn {
		k.turn = turn
		clear(k.had)
		clear(k.lost)
		if len(k.frames) > 0 { // its answer may be of the document before
			k.frames[0].answer, k.frames[0].asked = attachmentAnswer{}, ""
		}
	}
	if len(offered) == 0 && !slices.ContainsFunc(k.frames, func(f *keptFrame) bool { return f.drawn }) {
		k.keepFrames(ctx, page, nil)
		return nil, nil
	}
	list := page.Frames()
	if len(list) == 0 {
		list = []primitives.FrameInfo{{URL: url}}
	}
	k.keepFrames(ctx, page, list)
	items = make([][]attachmentSpec, len(k.frames))
	for _, a := range offered {
		row := attachedRow{offeredAttachment: a, state: attUnattached, reason: awayTarget}
		spec := a.spec()
		switch away := k.tab.keptAway(a); {
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
func (k *keeper) share(url string, a offeredAttachment, spec attachmentSpec, items [][]attachmentSpec) (reason string) {
	reason = awayURL
	holds := !k.tab.certainlyNot(a.in, a.attachment.Target.State)
	everywhere := spec.Target.OnPage(url)
	total := 0
	for _, f := range k.frames {
		in, _ := f.inside(a.id)
		total += in.Instances
	}
	left := spec.MaxInstances
	for i, f := range k.frames {
		here := spec
		in, known := f.inside(a.id)
		matches := everywhere || !f.main && spec.Target.OnPage(f.info.URL)
		if matches {
			if reason = awayTarget; !holds {
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
		// What a document knows it keeps knowing: what was lost there may not
		// come back under every policy.
		if here.Present && here.MaxInstances > 0 || known && (here.MaxInstances > 0 || in.Instances > 0) || here.Elsewhere {
			items[i] = append(items[i], here)
		}
	}
	return reason
}

// keepFrames follows the frames of the page.
func (k *keeper) keepFrames(ctx context.Context, page primitives.Page, list []primitives.FrameInfo) {
	k.beyond = len(list) > maxAttachFrames
	list = list[:min(len(list), maxAttachFrames)]
	was := k.frames
	k.frames = make([]*keptFrame, 0, len(list))
	for i, info := range list {
		j := slices.IndexFunc(was, func(f *keptFrame) bool { return f.info.ID == info.ID && f.main == (i == 0) })
		var f *keptFrame
		if j >= 0 {
			f = was[j]
			was = slices.Delete(slices.Clone(was), j, j+1)
		} else {
			f = &keptFrame{main: i == 0, asleep: true}
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
func (k *keeper) losing(f *keptFrame) {
	for _, a := range f.answer.Attachments {
		if a.Instances > 0 {
			k.lost[a.ID] = true
		}
	}
	f.answer, f.asked, f.settled, f.drawn = attachmentAnswer{}, "", false, false
}

// ask has each document answer for what it is to show.
func (k *keeper) ask(items [][]attachmentSpec) {
	for i, f := range k.frames {
		mine := append([]attachmentSpec{}, items[i]...)
		text, err := json.Marshal(mine)
		if err != nil {
			continue
		}
		switch changed := string(text) != f.asked; {
		case len(mine) == 0 && !f.drawn:
			f.settled = true
		case changed:
			f.settled, f.began = false, time.Now()
			time.AfterFunc(attachPatience, k.tab.attachments.poke)
			fallthrough
		case f.asleep:
			k.question(f, mine, string(text))
		}
		if f.pending() {
			return
		}
	}
}

// question asks a document, which ends an earlier question to it.
func (k *keeper) question(f *keptFrame, items []attachmentSpec, text string) {
	silence := attachSilence
	if len(items) == 0 {
		silence = 0 // it answers at once, and shows nothing any more
	}
	f.serial++
	f.asked, f.asleep, f.drawn = text, false, true
	seen := ""
	if f.settled { // else it is to answer at once
		seen = f.answer.Revision
	}
	args := map[string]any{"items": items, "seen": seen, "timeout_ms": silence.Milliseconds()}
	a, ctx := frameAnswer{frame: f, serial: f.serial}, f.ctx
	ask := *f // this frame as it is now
	k.asking.Go(func() {
		bounded, end := context.WithTimeout(ctx, 2*attachSilence)
		defer end()
		if a.err = ask.call(bounded, "attachments", args, &a.out); a.err != nil && fault.CodeOf(a.err) != fault.PageNavigated {
			k.tab.host.log.Debug("keeping attachments", "tab", k.tab.id, "error", a.err)
			observe.Pause(ctx, attachRest)
		}
		select {
		case k.answers <- a:
		case <-ctx.Done():
		}
	})
}

// used is an attachment that somebody pressed.
type usedAttachment struct {
	id, how string
	frame   primitives.FrameID
}

// take takes over an answer and returns what was pressed.
func (k *keeper) take(a frameAnswer) (used []usedAttachment) {
	f := a.frame
	frame := f.info.ID
	if f.main {
		frame = ""
	}
	for _, each := range a.out.Activations {
		used = append(used, usedAttachment{each.ID, each.How, frame})
	}
	if a.serial != f.serial || f.ctx.Err() != nil {
		return used // a newer question is open, or the frame is gone
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
		asked := f.asked
		k.losing(f)
		f.asked = asked
	}
	f.answer, f.settled = a.out, true
	f.drawn = f.asked != "[]"
	return used
}

// judge says where attachments stand, from what the documents answered.
func (k *keeper) judge(rows []attachedRow) {
	for i := range rows {
		r := &rows[i]
		drifted, stale, again := false, false, k.lost[r.id]
		for _, f := range k.frames {
			in, _ := f.inside(r.id)
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
			drifted = drifted || in.State == attDrifted
			stale = stale || in.State == attStale
			again = again || in.State == attReattached
		}
		switch {
		case r.instances > 0:
			r.reason = ""
			if r.state == attAttached && again {
				r.state = attReattached
			}
			k.had[r.id] = true
		case r.reason == awayURL, r.reason == awayState:
			r.state = attWrongContext // in its context it begins anew
			delete(k.had, r.id)
			delete(k.lost, r.id)
		case r.reason != awayTarget:
		case drifted:
			r.state, r.reason = attDrifted, awayDrift
		case stale || k.had[r.id]:
			r.state = attStale
		}
		if r.reason == awayTarget {
			k.lost[r.id] = k.had[r.id]
			if k.beyond {
				r.reason = awayFrames
			}
		}
	}
}

// clear takes everything off the page, as far as that goes within a second.
func (k *keeper) clear(ctx context.Context) {
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
