package capture

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/primitives"
)

// maxFrames bounds the frames of a page that are recorded.
const maxFrames = 8

// document is what is known of the document that a frame shows.
type document struct {
	token    string
	version  int // of its content
	resource string
	text     []byte
	frames   []string          // of its iframe elements
	owners   map[string]string // frames by the handle of their element
}

// taken is a snapshot with the token of its document.
type taken struct {
	record.Snapshot
	token string
}

// snapshotAnswer is what the page library says of a document.
type snapshotAnswer struct {
	Token   string   `json:"token"`
	Version int      `json:"version"`
	URL     string   `json:"url"`
	Title   string   `json:"title"`
	Doctype string   `json:"doctype"`
	Width   int      `json:"width"`
	Height  int      `json:"height"`
	Same    bool     `json:"same"`
	Frames  []string `json:"frames"`
	text    []byte
}

// TakeText implements primitives.TextTaker.
func (a *snapshotAnswer) TakeText(text []byte) { a.text = bytes.Clone(text) }

// frameDocument is the document of a frame as the page answered it, nil without an answer.
type frameDocument struct {
	frame  primitives.FrameID
	main   bool
	known  *document // that it was compared with
	answer *snapshotAnswer
	owners map[string]string // frames by the handle of their element
}

// frames are the frames of a page whose documents are taken, the main frame first.
func (r *Recorder) frames(p *page) []frameDocument {
	frames := p.page.Frames()
	out := make([]frameDocument, 0, min(len(frames), maxFrames))
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, f := range frames[:min(len(frames), maxFrames)] {
		out = append(out, frameDocument{frame: f.ID, main: i == 0, known: p.frames[f.ID]})
	}
	return out
}

func (s *frameDocument) arguments() map[string]any {
	if s.known == nil {
		return map[string]any{}
	}
	return map[string]any{"known": s.known.token, "version": s.known.version}
}

// take reads a document.
func (s *frameDocument) take(ctx context.Context, p primitives.Page) {
	var answer snapshotAnswer
	if p.Call(ctx, s.frame, "record_snapshot", s.arguments(), &answer) == nil {
		s.answer = &answer
	}
}

// Document is the document that a page shows, as a snapshot of its main frame has it.
func Document(ctx context.Context, p primitives.Page) (text []byte, address string, err error) {
	var answer snapshotAnswer
	if err := p.Call(ctx, "", "record_snapshot", map[string]any{}, &answer); err != nil {
		return nil, "", err
	}
	return answer.text, answer.URL, nil
}

// find finds the frames of the iframe elements.
func (s *frameDocument) find(ctx context.Context, p primitives.Page) {
	if s.answer == nil || s.answer.Same {
		return
	}
	s.owners = map[string]string{}
	for _, handle := range s.answer.Frames {
		if s.known != nil && s.known.token == s.answer.Token && s.known.owners[handle] != "" {
			s.owners[handle] = s.known.owners[handle]
		} else if id, err := p.ChildFrame(ctx, s.frame, handle); err == nil {
			s.owners[handle] = string(id)
		}
	}
}

// keep stores documents and returns them as snapshots. A frame that did not answer is left out, and without
// the main frame there are none. The queue calls it.
func (r *Recorder) keep(state *page, list []frameDocument) []taken {
	var out []taken
	for _, s := range list {
		if s.answer == nil {
			continue
		}
		r.mu.Lock()
		d := state.frames[s.frame]
		r.mu.Unlock()
		if !s.answer.Same {
			if len(s.answer.text) == 0 {
				continue
			}
			d = &document{
				token:    s.answer.Token,
				version:  s.answer.Version,
				owners:   s.owners,
				text:     s.answer.text,
				resource: r.log.Keep("application/json", s.answer.text),
			}
			for _, handle := range s.answer.Frames {
				d.frames = append(d.frames, s.owners[handle])
			}
			r.mu.Lock()
			state.frames[s.frame] = d
			r.mu.Unlock()
		} else if d == nil || d.token != s.answer.Token || d.version != s.answer.Version {
			continue
		} else if !r.log.Has(d.resource) { // a ring has forgotten it
			d.resource = r.log.Keep("application/json", d.text)
		}
		out = append(out, taken{token: d.token, Snapshot: record.Snapshot{
			Frame:    string(s.frame),
			Main:     s.main,
			URL:      s.answer.URL,
			Title:    s.answer.Title,
			Doctype:  s.answer.Doctype,
			Size:     record.Size{Width: s.answer.Width, Height: s.answer.Height},
			Resource: d.resource,
			Frames:   d.frames,
		}})
	}
	if len(out) == 0 || !out[0].Main {
		return nil
	}
	return out
}

// ended is a step whose snapshot afterwards is not taken yet.
type ended struct {
	step  string
	tab   int
	timer *time.Timer
}

// afterTime is how long after a step its snapshot is taken, unless another step begins before: then the
// snapshot before that one is the same.
const afterTime = 150 * time.Millisecond

// after has the snapshot after a step taken.
func (r *Recorder) after(state *page, tab int, step string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	state.acted = time.Now()
	e := &ended{step: step, tab: tab}
	e.timer = time.AfterFunc(afterTime, func() { r.takeIf(state, e) })
	if state.ended != nil { // of a call that ran beside this one
		state.ended.timer.Stop()
	}
	state.ended = e
}

// takeEnded is the step that has no snapshot afterwards yet; nil for none. Recorder.mu is held.
func (p *page) takeEnded() *ended {
	e := p.ended
	p.ended = nil
	if e != nil {
		e.timer.Stop()
	}
	return e
}

// takeEnded takes the snapshots after the last steps of all pages.
func (r *Recorder) takeEnded() {
	r.mu.Lock()
	list := slices.Collect(maps.Values(r.byTab))
	r.mu.Unlock()
	for _, p := range list {
		r.take(p)
	}
}

func (r *Recorder) take(state *page) { r.takeIf(state, nil) }

// takeIf takes the snapshot after the last step of a page, if that is e; nil is any.
func (r *Recorder) takeIf(state *page, e *ended) {
	r.mu.Lock()
	if state.ended == nil || e != nil && state.ended != e {
		r.mu.Unlock()
		return
	}
	e = state.takeEnded()
	r.mu.Unlock()
	list := r.frames(state)
	p := &probe{answered: make(chan struct{})}
	r.queue.add(func() { r.putSnapshots(e.tab, e.step, "after", r.keep(state, p.wait().documents)) })
	if !r.spawn(func() {
		defer close(p.answered)
		var all sync.WaitGroup
		for i := range list {
			all.Go(func() { list[i].take(r.ctx, state.page); list[i].find(r.ctx, state.page) })
		}
		all.Wait()
		p.documents = list
	}) {
		close(p.answered)
	}
}

func (r *Recorder) putSnapshots(tab int, step, phase string, list []taken) {
	for _, t := range list {
		t.Step, t.Phase = step, phase
		r.log.Put(record.KindSnapshot, tab, t.Snapshot, t.Resource)
	}
}
