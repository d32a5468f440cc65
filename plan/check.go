package plan

import (
	"context"
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/authoring/lock"
	"github.com/outrider-run/outrider/authoring/mend"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Checked is what the maps say about every open page.
type Checked struct {
	OK    bool              `json:"ok"`
	Raw   []json.RawMessage `json:"pages"`
	Pages []report.Page     `json:"-"`
	// Repairs and Locks are what was proposed and written, see Repair and UpdateLocks.
	Repairs []mend.Repaired `json:"repairs,omitempty"`
	Locks   []string        `json:"locks,omitempty"`

	tabs    []runtime.Target
	started time.Time
	warn    func(error)
}

// Expectations are what must hold of a page beyond its checks.
type Expectations struct {
	Settle       time.Duration // how long to probe again while the page is not well
	ExpectStatus int           // HTTP status of the document; 0 is any below 400
	Requires     []string      // states that must be current
	Strict       bool          // critical checks that are skipped fail
	Remember     bool          // results say what the elements look like that were found

	locks map[string]*lock.File // by map path: results propose repairs
}

func (x Expectations) arguments() ([]byte, error) {
	in := map[string]any{"mode": "check", "wait_ms": x.Settle.Milliseconds()}
	if x.ExpectStatus != 0 {
		in["expect_status"] = x.ExpectStatus
	}
	if len(x.Requires) > 0 {
		in["requires"] = x.Requires
	}
	if x.Strict {
		in["strict_checks"] = true
	}
	if x.Remember {
		in["remember"] = true
	}
	if len(x.locks) > 0 {
		in["lock"] = x.locks
	}
	return json.Marshal(in)
}

// Check runs every check and diagnoses every state of the maps that apply to
// each open page.
func Check(ctx context.Context, h Host, x Expectations, o Options) (Checked, error) {
	c := Checked{Raw: []json.RawMessage{}, started: time.Now(), warn: o.Warn}
	tabs := h.Tabs()
	for i, tab := range tabs {
		on := runtime.Target{RuntimeID: tab.RuntimeID}
		if o.Starts != nil {
			o.Starts(tab.URL, i+1, len(tabs))
		}
		if o.Evidence {
			record(ctx, h, on, o)
		}
		began := time.Now()
		p, err := checkPage(ctx, h, x, on, nil, o)
		if err != nil {
			return c, err
		}
		if i < len(o.Opened) {
			p.Opened = o.Opened[i]
		}
		if o.Evidence && !p.Well() {
			p.Shot, p.Texts = evidenceOf(context.WithoutCancel(ctx), h, on, o, began)
		}
		c.Pages, c.Raw, c.tabs = append(c.Pages, p), append(c.Raw, p.Raw), append(c.tabs, on)
	}
	c.OK = len(c.Pages) > 0
	for _, p := range c.Pages {
		c.OK = c.OK && p.OK
	}
	return c, nil
}

// checkPage checks one page, by its maps or by one that is supplied.
func checkPage(ctx context.Context, h Host, x Expectations, on runtime.Target, supplied *runtime.SuppliedMap, o Options) (report.Page, error) {
	arguments, err := x.arguments()
	if err != nil {
		return report.Page{}, err
	}
	reply := h.Do(ctx, runtime.Call{ID: o.NewID(), Target: on, Name: runtime.SiteTool, Arguments: arguments, Timeout: o.CallTimeout, Map: supplied})
	if reply.Err != nil {
		return report.Page{}, reply.Err
	}
	p := report.Page{Raw: reply.Output, Duration: reply.Duration}
	if err := json.Unmarshal(reply.Output, &p); err != nil {
		return p, fault.Wrap(fault.Internal, err, "reading the result")
	}
	p.Locate(o.Maps)
	return p, nil
}
