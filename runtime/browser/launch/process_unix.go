//go:build unix

package launch

import (
	"os"
	"syscall"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

var ignoredSignals = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE}

// open starts the browser with a DevTools pipe on descriptors 3 and 4.
func (p *Process) open(args []string) (cdp.Transport, error) {
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		theirIn.Close()
		ourOut.Close()
		return nil, err
	}
	p.cmd.Args = append(append(p.cmd.Args, args...), "--remote-debugging-pipe")
	p.cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	err = p.start()
	theirIn.Close()
	theirOut.Close()
	if err != nil {
		ourOut.Close()
		ourIn.Close()
		return nil, err
	}
	return cdp.NewPipe(ourIn, ourOut), nil
}
