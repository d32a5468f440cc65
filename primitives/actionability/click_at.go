package actionability

import (
	"context"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// clickCount is how many clicks a document has been given, whatever its listeners made
// of them. Document tells it from the one before it in the frame.
type clickCount struct {
	Clicks   int     `json:"clicks"`
	Document float64 `json:"document"`
	// Young: the browser may not have drawn the document yet.
	Young bool `json:"young"`
}

// clicksAtPoint bounds how often a click at a point is sent: six pauses, 1.3 seconds together.
const clicksAtPoint = 7

// ClickAt sends a click at a point that was checked.
//
// The browser finds the frame of a click by what it drew last. In a frame that another
// process has just loaded the first clicks can go to the document around it, and no event
// reports when that is over. So a young frame is queried whether the click came, and where it
// did not, it is sent again. The error is target_not_actionable when none came.
func ClickAt(ctx context.Context, p primitives.Page, a ActionPoint, events []primitives.MouseEvent, mods primitives.Modifiers) error {
	for n := 0; ; n++ {
		if err := sendClick(ctx, p, events, mods); err != nil {
			return err
		}
		if a.before == nil || primitives.FidelityOf(p) != primitives.FidelityTrusted {
			return nil
		}
		var now clickCount
		if err := p.Call(ctx, a.frame, "click_count", nil, &now); err != nil {
			return nil // a dialog, another document or the end of the frame: something came of it
		}
		if now.Document != a.before.Document || now.Clicks != a.before.Clicks {
			return nil
		}
		if n == clicksAtPoint-1 || !primitives.Pause(ctx, min(20*time.Millisecond<<n, time.Second)) {
			return fault.New(fault.TargetNotActionable, "the click did not reach the frame").
				With("reason", "covered").With("point", primitives.Point{X: a.X, Y: a.Y})
		}
	}
}
