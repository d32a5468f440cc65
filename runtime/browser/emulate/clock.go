package emulate

import (
	"context"
	_ "embed"
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// clockScript is the function of clock.js.
//
//go:embed clock.js
var clockScript string

// Modes of a clock, see primitives.ClockEmulation.
const (
	clockFixed  = "fixed"
	clockPaused = "paused"
)

// kindClock names the script of the clock among those of a session.
const kindClock = "clock"

// Clock is a clock as tabs begin with it.
func Clock(want primitives.ClockEmulation) (*primitives.ClockEmulation, error) {
	return mergeClock(nil, want)
}

// mergeClock is a clock after a change, with the time that it shows when it is changed.
func mergeClock(old *primitives.ClockEmulation, want primitives.ClockEmulation) (*primitives.ClockEmulation, error) {
	out := primitives.ClockEmulation{Mode: want.Mode, At: want.At, Seed: want.Seed, Since: want.Since}
	if out.Since.IsZero() {
		out.Since = time.Now()
	}
	if old != nil {
		if out.Mode == "" {
			out.Mode = old.Mode
		}
		if out.Seed == nil {
			out.Seed = old.Seed
		}
	}
	if out.Mode == "" && !want.At.IsZero() {
		out.Mode = clockFixed
	}
	if out.At.IsZero() {
		out.At = out.Since
		if old != nil && old.Mode != "" {
			out.At = old.Now()
		}
	}
	if want.AdvanceMS > 0 {
		if out.Mode != clockPaused {
			return nil, fault.New(fault.InvalidArguments, "advance_ms is for a clock that is paused").
				With("mode", out.Mode)
		}
		out.At = out.At.Add(time.Duration(want.AdvanceMS * float64(time.Millisecond)))
	}
	return &out, nil
}

// clockSource is the script with which documents and workers take part in a clock; nil is the real one.
func clockSource(c *primitives.ClockEmulation) string {
	if c == nil {
		// Nothing is replaced where nothing was.
		return `globalThis[Symbol.for("outrider.clock")]&&globalThis[Symbol.for("outrider.clock")].set({"mode":"off"})`
	}
	config := map[string]any{"mode": "off", "at": millis(c.At), "started": millis(c.Since)}
	if c.Mode != "" {
		config["mode"] = c.Mode
	}
	if c.Seed != nil {
		config["seed"] = *c.Seed
	}
	raw, err := json.Marshal(config)
	if err != nil {
		return ""
	}
	return "(" + clockScript + ")(" + string(raw) + ")"
}

func millis(t time.Time) float64 { return float64(t.UnixMicro()) / 1000 }

func clockCommand(c *primitives.ClockEmulation) cdp.Command {
	return cdp.Command{
		Method: addScript,
		Params: append(cdp.AppendQuoted([]byte(`{"runImmediately":true,"source":`), clockSource(c)), '}'),
	}
}

// applyClock gives every document of the tab another clock, and returns when the timers that were due
// in the top document have run.
func (e *Emulator) applyClock(ctx context.Context, c *primitives.ClockEmulation) error {
	e.mu.Lock()
	e.now.Clock = c // for frames and workers that begin from here on, before the list of sessions is taken
	e.mu.Unlock()
	command := clockCommand(c)
	if err := e.replaceScript(ctx, kindClock, &command, c != nil); err != nil {
		return err
	}
	if c == nil || c.Mode != clockPaused {
		return nil
	}
	const settled = `{"expression":"(globalThis[Symbol.for('outrider.clock')]||{}).settled","awaitPromise":true}`
	sessions := e.tab.Sessions()
	if len(sessions) == 0 {
		return nil
	}
	err := e.client.DoIn(ctx, e.tab.Lifetime(), sessions[0], "Runtime.evaluate", json.RawMessage(settled), nil)
	return cdp.Explain(err, "waiting for timers")
}

// WorkerCommands are those with which a worker of the tab takes part, before its first script runs.
func (e *Emulator) WorkerCommands(s *cdp.Session) []cdp.Command {
	c := e.Emulated().Clock
	if c == nil {
		return nil
	}
	return []cdp.Command{{
		Session: s.ID,
		Method:  "Runtime.evaluate",
		Params:  cdp.Object("expression", clockSource(c)),
		OnReply: e.client.LogFailure("Runtime.evaluate"),
	}}
}
