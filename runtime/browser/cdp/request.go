package cdp

import (
	"context"
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Await returns the answer to a started call, and waits no longer than the page
// behind it can answer.
func (c *Client) Await(ctx context.Context, l *Lifetime, p *Call) ([]byte, error) {
	var limit <-chan time.Time
	if _, ok := ctx.Deadline(); !ok {
		timer := time.NewTimer(CommandTimeout)
		defer timer.Stop()
		limit = timer.C
	}
	var err error
	select {
	case r := <-p.Replied():
		return r.Result, r.Err
	case <-l.Done():
		err = l.Err()
	case <-ctx.Done():
		err = ctx.Err()
	case <-limit:
		err = context.DeadlineExceeded
	}
	c.Forget(p)
	return nil, err
}

// DoIn is do for a command of a session about a page, bounded by its lifetime.
func (c *Client) DoIn(ctx context.Context, l *Lifetime, s *Session, method string, params, out any) error {
	cmd, err := NewCommand(s.ID, method, params)
	if err != nil {
		return err
	}
	calls, err := c.Start(ctx, cmd)
	if err != nil {
		return err
	}
	result, err := c.Await(ctx, l, calls[0])
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(result, out); err != nil {
		return fault.Wrap(fault.Internal, err, "reading the answer to %s", method)
	}
	return nil
}

// DoAll sends commands with one write and returns the error of the last.
func (c *Client) DoAll(ctx context.Context, commands ...Command) error {
	calls, err := c.Start(ctx, commands...)
	if err != nil {
		return err
	}
	defer c.Forget(calls...)
	_, err = c.Wait(ctx, calls[len(calls)-1])
	return err
}

// Broadcast sends commands to several sessions and waits for the answers of the
// first one, the tab's own: those of its frames may be about to detach.
func (c *Client) Broadcast(ctx context.Context, l *Lifetime, sessions []*Session, cmds ...Command) error {
	var all []Command
	for _, s := range sessions[1:] {
		for _, cmd := range cmds {
			cmd.Session, cmd.OnReply = s.ID, c.LogFailure(cmd.Method)
			all = append(all, cmd)
		}
	}
	for _, cmd := range cmds {
		cmd.Session = sessions[0].ID
		all = append(all, cmd)
	}
	calls, err := c.Start(ctx, all...)
	if err != nil {
		return err
	}
	mine := calls[len(calls)-len(cmds):]
	defer c.Forget(mine...)
	for _, p := range mine {
		if _, err := c.Await(ctx, l, p); err != nil {
			return err
		}
	}
	return nil
}
