package capture

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	_ "image/jpeg" // of the screencast
	"time"

	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/locator"
	"github.com/outrider-run/outrider/runtime/browser"
)

// margin is painted around a secret field, in CSS pixels: the page may have moved a little.
const margin = 4

const (
	// slowRate and fastRate are the least time between two pictures: the fast one for a moment after a step.
	slowRate = time.Second
	fastRate = 200 * time.Millisecond
	moment   = 700 * time.Millisecond
)

// pace waits until the next picture of a page may be recorded. An hour of a page that never stands still is
// 3,600 pictures. The newest that comes meanwhile is the one that is recorded.
func (r *Recorder) pace(state *page) {
	for {
		r.mu.Lock()
		rate := slowRate
		if time.Since(state.acted) < moment {
			rate = fastRate
		}
		left := rate - time.Since(state.pictured)
		r.mu.Unlock()
		if left <= 0 {
			return
		}
		timer := time.NewTimer(min(left, fastRate)) // a step may begin meanwhile
		select {
		case <-timer.C:
		case <-r.ending:
			timer.Stop()
			return
		}
	}
}

// pictures records the newest picture of a page until there is none.
func (r *Recorder) pictures(state *page) {
	for {
		r.pace(state)
		r.mu.Lock()
		state.pictured = time.Now()
		f := state.picture
		state.picture = nil
		state.painting = f != nil
		r.mu.Unlock()
		if f == nil {
			return
		}
		r.picture(state, f)
	}
}

// picture records a frame of the screencast. Where secret fields are is painted over; a frame for which
// that cannot be said is dropped.
func (r *Recorder) picture(state *page, f *browser.ScreencastFrame) {
	ctx, cancel := context.WithTimeout(r.ctx, probeTime)
	defer cancel()
	boxes, ok := r.secretBoxes(ctx, state)
	if !ok {
		return
	}
	data, err := base64.StdEncoding.DecodeString(string(f.Data))
	if err != nil {
		return
	}
	if len(boxes) > 0 {
		data, err = paint(data, boxes, f.Width)
		if err != nil {
			return
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.later(state, func(tab int) {
		name := r.log.Keep("image/jpeg", data)
		r.log.PutAt(
			f.At, record.KindPicture, tab,
			record.Picture{Resource: name, Size: record.Size{Width: f.Width, Height: f.Height}, Painted: len(boxes)},
			name,
		)
	})
}

// paint covers boxes of the page, which is width CSS pixels wide, in its picture.
func paint(data []byte, boxes []primitives.Rect, width int) ([]byte, error) {
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	scale := 1.0
	if width > 0 {
		scale = float64(config.Width) / float64(width)
	}
	var places []image.Rectangle
	for _, b := range boxes {
		places = append(places, image.Rect(
			int((b.X-margin)*scale), int((b.Y-margin)*scale),
			int((b.X+b.Width+margin)*scale)+1, int((b.Y+b.Height+margin)*scale)+1,
		))
	}
	return mask.Paint(data, "jpeg", 50, places)
}

type boxesAnswer struct {
	Secret []primitives.Rect `json:"secret"`
}

// secretBoxes are where secret fields are, in the viewport of the tab.
func (r *Recorder) secretBoxes(ctx context.Context, state *page) (out []primitives.Rect, ok bool) {
	frames := state.page.Frames()
	for i, f := range frames {
		if i == maxFrames {
			return nil, false
		}
		var answer boxesAnswer
		if state.page.Call(ctx, f.ID, "record_boxes", map[string]any{}, &answer) != nil {
			return nil, false
		}
		if i > 0 && len(answer.Secret) > 0 {
			at, err := locator.PlaceOfFrame(ctx, state.page, f.ID)
			if err != nil ||
				state.page.Call(ctx, f.ID, "record_boxes", map[string]any{"view": at.View}, &answer) != nil {
				return nil, false
			}
		}
		out = append(out, answer.Secret...)
	}
	return out, true
}
