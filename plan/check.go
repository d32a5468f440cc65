package plan

import (
	"context"
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Checked is what the maps say about every open page.
type Checked struct {
	OK    bool              `json:"ok"`
	Raw   []json.RawMessage `json:"pages"`
	Pages []report.Page     `json:"-"`
	// Declared counts the checks and states of the maps that apply.
	Declared int `json:"-"`
}

// Check runs every check and diagnoses every state of the maps that apply to
// each open page. While a check fails it looks again for as long as settle.
func Check(ctx context.Context, h Host, settle time.Duration, o Options) (Checked, error) {
	arguments, err := json.Marshal(map[string]any{"mode": "check", "wait_ms": settle.Milliseconds()})
	if err != nil {
		return Checked{}, err
	}
	c := Checked{Raw: []json.RawMessage{}}
	for _, tab := range h.Tabs() {
		reply := h.Do(ctx, runtime.Call{
			ID: o.NewID(), Target: runtime.Target{RuntimeID: tab.RuntimeID}, Name: runtime.SiteTool, Arguments: arguments, Timeout: o.CallTimeout,
		})
		if reply.Err != nil {
			return c, reply.Err
		}
		p := report.Page{Raw: reply.Output, Duration: reply.Duration}
		if err := json.Unmarshal(reply.Output, &p); err != nil {
			return c, fault.Wrap(fault.Internal, err, "reading the result")
		}
		c.Pages, c.Raw = append(c.Pages, p), append(c.Raw, reply.Output)
	}
	failed := 0
	for _, p := range c.Pages {
		c.Declared += len(p.Checks) + len(p.States)
		for _, check := range p.Checks {
			if check.Breaks() {
				failed++
			}
		}
	}
	c.OK = failed == 0 && c.Declared > 0
	return c, nil
}

// Report is the report of the checks in one format.
func (c Checked) Report(format string) ([]byte, error) {
	switch format {
	case "junit":
		return report.JUnit(report.Suites(c.Pages))
	case "html":
		return report.HTML(c.Pages)
	}
	return report.JSON(c)
}
