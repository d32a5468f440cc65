package capture

import (
	"bytes"
	"context"
	"sync"

	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/primitives"
)

// maxFrames bounds the frames of a page that are recorded.
const maxFrames = 8

// document is what is known of the document that a frame shows.
type document struct {
	token    string
	resource string
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

// snapshots takes the documents of a page, the main frame first. A frame that does not answer is left out.
func (r *Recorder) snapshots(ctx context.Context, p *page) []taken {
	frames := p.page.Frames()
	if len(frames) > maxFrames {
		frames = frames[:maxFrames]
	}
	out := make([]taken, len(frames))
	var all sync.WaitGroup
	for i, f := range frames {
		r.mu.Lock()
		known := p.frames[f.ID]
		r.mu.Unlock()
		all.Go(func() {
			d, answer := r.snapshot(ctx, p.page, f.ID, known)
			if d == nil {
				return
			}
			r.mu.Lock()
			p.frames[f.ID] = d
			r.mu.Unlock()
			out[i] = taken{token: d.token, Snapshot: record.Snapshot{
				Frame: string(f.ID), Main: i == 0, URL: answer.URL, Title: answer.Title, Doctype: answer.Doctype,
				Size: record.Size{Width: answer.Width, Height: answer.Height}, Resource: d.resource, Frames: d.frames,
			}}
		})
	}
	all.Wait()
	if len(out) == 0 || out[0].Resource == "" {
		return nil
	}
	n := 0
	for _, t := range out {
		if t.Resource != "" {
			out[n] = t
			n++
		}
	}
	return out[:n]
}

func (r *Recorder) snapshot(ctx context.Context, p primitives.Page, frame primitives.FrameID, known *document) (*document, snapshotAnswer) {
	var answer snapshotAnswer
	args := map[string]any{}
	if known != nil {
		args["known"] = known.token
	}
	if p.Call(ctx, frame, "record_snapshot", args, &answer) != nil {
		return nil, answer
	}
	if answer.Same && known != nil && known.token == answer.Token {
		return known, answer
	}
	if len(answer.text) == 0 {
		return nil, answer
	}
	d := &document{token: answer.Token, owners: map[string]string{}}
	d.resource = r.log.Keep("application/json", answer.text)
	for _, handle := range answer.Frames {
		if known != nil && known.token == d.token && known.owners[handle] != "" {
			d.owners[handle] = known.owners[handle]
		} else if id, err := p.ChildFrame(ctx, frame, handle); err == nil {
			d.owners[handle] = string(id)
		}
		d.frames = append(d.frames, d.owners[handle])
	}
	return d, answer
}

func (r *Recorder) putSnapshots(tab int, step, phase string, list []taken) {
	for _, t := range list {
		t.Step, t.Phase = step, phase
		r.log.Put(record.KindSnapshot, tab, t.Snapshot, t.Resource)
	}
}
