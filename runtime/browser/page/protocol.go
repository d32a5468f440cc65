package page

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// Protocol sends one command of the browser's own protocol to the tab's target
// and returns its answer. It goes past every rule of this package: a command can
// undo what Tab relies on, such as the domains that are enabled. Only what a
// person has allowed by name may end here.
func (p *Page) Protocol(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	var out json.RawMessage
	if err := p.do(ctx, method, params, &out); err != nil {
		if text, ok := cdp.Message(err); ok {
			return nil, fault.New(fault.InvalidArguments, "the browser refused the command").
				With("method", method).With("browser_says", text)
		}
		return nil, err
	}
	return out, nil
}
