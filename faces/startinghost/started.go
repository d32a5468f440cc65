package startinghost

import (
	"context"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Started implements what package provider requires of a host that may still be
// starting: it does not wait.
func (l *Host) Started() (ready bool, err *fault.Error) {
	select {
	case <-l.opened:
		if l.err != nil {
			return false, fault.From(l.err)
		}
		return true, nil
	default:
		return false, nil
	}
}

// Info implements provider.Host. While the browser is starting it has none.
func (l *Host) Info() runtime.Info {
	if ready, _ := l.Started(); ready {
		return l.host.Info()
	}
	return runtime.Info{}
}

// Protocol implements what package provider requires for cdp.send.
func (l *Host) Protocol(
	ctx context.Context, target runtime.Target, method string, params []byte,
) ([]byte, *fault.Error) {
	h, err := l.Wait(ctx)
	if err != nil {
		return nil, err
	}
	return h.Protocol(ctx, target, method, params)
}

// WaitsFor is for what a host that is opened in the background waits.
func (l *Host) WaitsFor() string {
	switch ready, err := l.Started(); {
	case err != nil:
		return "the browser did not start: " + string(err.Code)
	case !ready:
		return "the browser is starting"
	}
	return ""
}
