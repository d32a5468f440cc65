package siteaction

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/observe"
	"github.com/outrider-run/outrider/sites"
)

// functionPage is a page whose own functions can be called; see
// page.Page.PageFunction for what is followed and what is refused.
type functionPage interface {
	PageFunction(ctx context.Context, path []string, argument json.RawMessage) (json.RawMessage, error)
	HasPageFunction(ctx context.Context, path []string) error
}

// pageHandler calls a function of the page that a map names as its handler. The
// page is not on our side: the result is data, and checked by the caller.
func (a *Actions) pageHandler(
	ctx context.Context, v invoker, match *sites.Match, name string, arguments json.RawMessage,
) (json.RawMessage, *fault.Error) {
	_, merged, err := match.Primitive(arguments) // the binding's arguments count for any handler
	if err != nil {
		return nil, err
	}
	functions, err := a.functions(ctx, name)
	if err != nil {
		return nil, err
	}
	v.Progress(call.Progress{Phase: "page_handler"})
	bounded, cancel := observe.Answerable(ctx)
	defer cancel()
	value, e := functions.PageFunction(bounded, strings.Split(name, "."), merged)
	if e != nil {
		err := fault.From(e).Field("handler", name)
		if err.Code == fault.HandlerTimeout { // Actions Bridge Protocol, "Timeout Rules"
			err.With("elapsed_ms", time.Since(v.Accepted()).Milliseconds()).
				With("timeout_ms", v.Message().Timeout.Milliseconds()).
				Next("the function may have taken effect; read the page before you repeat the action")
		}
		return nil, err
	}
	return value, nil
}

// HasHandler returns why a handler cannot be called, nil when it can.
func (a *Actions) HasHandler(ctx context.Context, name string) *fault.Error {
	functions, err := a.functions(ctx, name)
	if err != nil {
		return err
	}
	if e := functions.HasPageFunction(ctx, strings.Split(name, ".")); e != nil {
		return fault.From(e)
	}
	return nil
}

func (a *Actions) functions(ctx context.Context, name string) (functionPage, *fault.Error) {
	if _, err := a.LivePage(ctx); err != nil {
		return nil, fault.From(err)
	}
	functions, ok := a.Page().(functionPage)
	if !ok {
		return nil, fault.New(fault.CapabilityUnavailable, "this host cannot call functions of the page").
			With("handler", name)
	}
	return functions, nil
}
