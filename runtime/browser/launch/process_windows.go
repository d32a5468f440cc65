package launch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

var ignoredSignals = []os.Signal{os.Interrupt}

// open starts the browser with a DevTools port on loopback, because handles
// other than the standard ones cannot be inherited through os/exec here. Any
// local process of the same user can find that port in the profile directory.
func (p *Process) open(args []string) (cdp.Transport, error) {
	port := filepath.Join(p.dir, "DevToolsActivePort")
	_ = os.Remove(port)
	p.cmd.Args = append(append(p.cmd.Args, args...), "--remote-debugging-port=0")
	if err := p.start(); err != nil {
		return nil, err
	}
	deadline := time.Now().Add(30 * time.Second)
	for {
		if b, err := os.ReadFile(port); err == nil {
			if lines := strings.Fields(string(b)); len(lines) == 2 {
				ctx, cancel := context.WithDeadline(context.Background(), deadline)
				defer cancel()
				return cdp.Dial(ctx, "ws://127.0.0.1:"+lines[0]+lines[1], nil)
			}
		}
		select {
		case <-p.exited:
			return nil, errors.New("the browser ended before it opened its port")
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return nil, errors.New("the browser did not open its port")
		}
	}
}
