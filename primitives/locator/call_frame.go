package locator

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
)

// CallFrame calls function fn of the page library in the frame that selectors
// name, outer to inner; without selectors it is the main frame. It is for
// packages that read pages without being a primitive. In a frame args gets the
// further member view, which maps the frame's pixels to those of the tab.
//
// Errors of the frame chain are invalid_selector, frame_not_found and
// frame_cross_origin, with the frame's selector as evidence.
func CallFrame(
	ctx context.Context, p primitives.Page, selectors []string, fn string, args map[string]any, out any,
) error {
	return CallIn(ctx, p, selectors, args, fn, out)
}
