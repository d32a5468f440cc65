package browser

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/pagetool"
)

// PageTools implements pagetool.Page.
func (t *Tab) PageTools(ctx context.Context) (tools []pagetool.Tool, more int, err error) {
	if t.tools == nil {
		return nil, 0, fault.New(fault.CapabilityUnavailable, "this browser was started without tools of pages").
			With("capability", "webmcp").Next("start with --webmcp")
	}
	tools, more = t.tools.List()
	return tools, more, ctx.Err()
}

// InvokePageTool implements pagetool.Page.
func (t *Tab) InvokePageTool(
	ctx context.Context, tool pagetool.Tool, input json.RawMessage,
) (out pagetool.Result, err error) {
	if _, _, err := t.PageTools(ctx); err != nil {
		return out, err
	}
	err = t.unlessDialog(ctx, func(ctx context.Context) (err error) {
		out, err = t.tools.Invoke(ctx, tool, input)
		return err
	})
	return out, err
}
