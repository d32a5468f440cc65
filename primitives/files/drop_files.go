package files

import (
	"context"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/actionability"
	"github.com/outrider-run/outrider/primitives/fault"
)

// dragAnswer is how long a movement and the drop may take to come to the page.
const dragAnswer = 5 * time.Second

// dragHeard is the last event of a drag in the page: a movement, or the drop.
type dragHeard struct {
	Heard bool `json:"heard"`
	On    bool `json:"on"`    // the drag came over the element
	Taken bool `json:"taken"` // the page takes the files
	Files int  `json:"files"` // how many were dropped
}

// dropFiles drops files on an element. They are dropped only where the page says that it takes them: anywhere else the
// browser would leave the page and show the file.
func dropFiles(ctx context.Context, p primitives.Page, in uploadSetFilesIn, files []primitives.UploadFile) error {
	h, err := actionability.Act(
		ctx, p, in.Locator, actionability.Requirements{Enabled: true}, actionability.Target{TimeoutMS: in.TimeoutMS},
		func(a actionability.ActionPoint) []primitives.MouseEvent {
			return []primitives.MouseEvent{{Type: primitives.MouseMoved, X: a.X, Y: a.Y}}
		}, 0,
	)
	if err != nil {
		return err
	}
	frame := h.At.Frame
	if err := p.Call(ctx, frame, "file_drag_begin", map[string]any{"handle": h.Handle}, nil); err != nil {
		return err
	}
	point := primitives.Point{X: h.X, Y: h.Y}
	refused := func(reason, message string) *fault.Error {
		return fault.New(fault.TargetNotActionable, "%s", message).
			With("reason", reason).With("point", point).With("locator", in.Locator)
	}
	heard := func(dropped bool) (out dragHeard, err error) {
		args := map[string]any{"dropped": dropped, "last": dropped, "timeout_ms": dragAnswer.Milliseconds()}
		err = p.Call(ctx, frame, "file_drag_heard", args, &out)
		return out, err
	}
	err = p.DragFiles(ctx, point, files, func() error {
		over, err := heard(false)
		switch {
		case err != nil:
			return err
		case !over.Heard || !over.On:
			return refused("covered", "the files did not come over the element, and were not dropped")
		case !over.Taken:
			return refused("no_drop_zone", "the page takes no files there, and none were dropped")
		}
		return nil
	})
	if err != nil {
		_ = p.Call(ctx, frame, "file_drag_end", nil, nil)
		return err
	}
	drop, err := heard(true)
	switch code := fault.CodeOf(err); {
	case code == fault.PageNavigated, code == fault.FrameNotFound, code == fault.DialogOpen:
		return nil // the drop had that effect
	case err != nil:
		return err
	case !drop.Heard:
		return refused("not_dropped", "the drop did not come to the page").With("input_sent", true).
			Next("it may have had an effect: read the page before you repeat it")
	case drop.Files != len(files):
		return refused("not_dropped", "the page got another number of files").With("input_sent", true).
			With("count", drop.Files)
	}
	return nil
}
