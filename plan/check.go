package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/outrider-run/outrider/authoring/repair"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/internal/element/lock"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/checks"
)

// CheckResult is what the maps say about every open page.
type CheckResult struct {
	OK    bool              `json:"ok"`
	Raw   []json.RawMessage `json:"pages"`
	Pages []report.Page     `json:"-"`
	// Repairs and Locks are what was proposed and written, and Errors is why that could not be
	// done, see ProposeRepairs.
	Repairs []repair.Repaired `json:"repairs,omitempty"`
	Locks   []string          `json:"locks,omitempty"`
	Errors  []*fault.Error    `json:"errors,omitempty"`

	tabs    []runtime.Target
	broken  []*fault.Error // by page: why it could not be judged
	started time.Time
	warn    func(error)
}

// Expectations are what must hold of a page beyond its checks.
type Expectations struct {
	Settle       time.Duration // how long to probe again while the page is not well
	ExpectStatus int           // HTTP status of the document; 0 is any below 400
	Requires     []string      // states that must be current
	Strict       bool          // critical checks that are skipped fail
	FailOnDrift  bool          // checks that drifted fail
	Remember     bool          // results say what the elements look like that were found

	locks map[string]*lock.File // by map path: results propose repairs
}

func (x Expectations) arguments() ([]byte, error) {
	in := runtime.Site{
		Mode:         runtime.SiteCheck,
		WaitMS:       x.Settle.Milliseconds(),
		ExpectStatus: x.ExpectStatus,
		Requires:     x.Requires,
		StrictChecks: x.Strict,
		FailOnDrift:  x.FailOnDrift,
		Remember:     x.Remember,
	}
	if len(x.locks) > 0 {
		in.Lock = x.locks
	}
	return in.JSON()
}

// Check runs every check and diagnoses every state of the maps that apply to
// each open page. A page that cannot be opened or judged is a result of its own.
func Check(ctx context.Context, h Host, x Expectations, o Options) CheckResult {
	c := CheckResult{Raw: []json.RawMessage{}, started: time.Now(), warn: o.Warn}
	pages := o.Opened.with(h.Tabs())
	for i, at := range pages {
		on := runtime.Target{RuntimeID: at.tab}
		if o.Starts != nil {
			o.Starts(at.shown, i+1, len(pages))
		}
		judged := at.err == nil
		if o.Evidence && judged {
			record(ctx, h, on, o)
		}
		began := time.Now()
		var p report.Page
		err := at.err
		if judged {
			p, err = checkPage(ctx, h, x, on, nil, o)
		}
		p.Opened = at.address
		if err != nil {
			p = brokenPage(at, fault.From(err), time.Since(began))
		}
		if o.Evidence && judged && !p.Well() && ctx.Err() == nil {
			p.Screenshot, p.Texts = evidenceOf(ctx, h, on, o, began)
		}
		c.add(p, on, err)
	}
	return c
}

// Unopened is the check of pages of which none could be opened, for one reason.
func Unopened(addresses []string, err error) CheckResult {
	c := CheckResult{Raw: []json.RawMessage{}, started: time.Now()}
	if len(addresses) == 0 {
		addresses = []string{"about:blank"}
	}
	for _, address := range addresses {
		c.add(brokenPage(opening{address: address, shown: address}, fault.From(err), 0), runtime.Target{}, err)
	}
	return c
}

func (c *CheckResult) add(p report.Page, on runtime.Target, err error) {
	c.OK = p.OK && (c.OK || len(c.Pages) == 0)
	c.Pages = append(c.Pages, p)
	c.Raw = append(c.Raw, p.Raw)
	c.tabs = append(c.tabs, on)
	c.broken = append(c.broken, nil)
	if err != nil {
		c.broken[len(c.broken)-1] = fault.From(err)
	}
}

// brokenPage is a page of which nothing is known but why.
func brokenPage(at opening, f *fault.Error, took time.Duration) report.Page {
	p := report.Page{Opened: at.address, Duration: took, Page: checks.Page{
		URL:        at.shown,
		Unmet:      []string{said(f)},
		Summary:    map[string]int{},
		Maps:       []string{},
		ObservedAt: stamp(time.Now()),
	}}
	in := brokenJSON{
		Status:     report.Broken,
		Error:      f,
		Unmet:      p.Unmet,
		URL:        p.URL,
		ObservedAt: p.ObservedAt,
		Summary:    p.Summary,
	}
	in.Checks = []string{}
	in.States = []string{}
	in.Maps = p.Maps
	raw, err := json.Marshal(in)
	if err != nil { // evidence that is no JSON
		in.Error = fault.New(f.Code, "%s", f.Message)
		raw = encoded(in)
	}
	p.Raw = raw
	return p
}

// brokenJSON has the members of a page that was judged, so far as readers count on them.
type brokenJSON struct {
	OK         bool           `json:"ok"`
	Status     report.Outcome `json:"status"`
	Error      *fault.Error   `json:"error"`
	Unmet      []string       `json:"unmet"`
	URL        string         `json:"url"`
	ObservedAt string         `json:"observed_at"`
	Summary    map[string]int `json:"summary"`
	Checks     []string       `json:"checks"`
	States     []string       `json:"states"`
	Maps       []string       `json:"maps"`
}

// said is an error in a line.
func said(f *fault.Error) string { return string(f.Code) + ": " + f.Message }

// Openings are addresses that were to be opened.
type Openings []opening

type opening struct {
	address, shown, tab string
	err                 error // why it was not opened
}

// Add is for runtime.Options.OnOpen.
func (o *Openings) Add(address, tab string, err error) {
	*o = append(*o, opening{address: address, shown: address, tab: tab, err: err})
}

// with are the openings with what their tabs show, and the tabs that came otherwise: those
// of a browser that ran already, and what pages opened.
func (o Openings) with(tabs []runtime.TabStatus) Openings {
	out := slices.Clone(o)
	for _, t := range tabs {
		i := slices.IndexFunc(out, func(x opening) bool { return x.tab == t.RuntimeID })
		switch {
		case i < 0:
			out = append(out, opening{shown: t.URL, tab: t.RuntimeID})
		case out[i].err == nil:
			out[i].shown = t.URL
		}
	}
	return out
}

// Print shows the pages for people.
func (c CheckResult) Print(w io.Writer) {
	for i, p := range c.Pages {
		f := c.broken[i]
		if f == nil {
			p.Print(w)
			continue
		}
		fmt.Fprintf(w, "broken  %s  %s\n", report.Printable(p.URL), report.Printable(said(f)))
		for _, line := range report.EvidenceLines(f) {
			fmt.Fprintf(w, "        %s\n", report.Printable(line))
		}
		if f.NextStep != "" {
			fmt.Fprintf(w, "        next: %s\n", report.Printable(f.NextStep))
		}
	}
}

// checkPage checks one page, by its maps or by one that is supplied.
func checkPage(
	ctx context.Context, h Host, x Expectations, on runtime.Target, supplied *runtime.SuppliedMap, o Options,
) (report.Page, error) {
	arguments, err := x.arguments()
	if err != nil {
		return report.Page{}, err
	}
	reply := h.Do(ctx, runtime.Call{
		ID:        o.NewID(),
		Target:    on,
		Name:      runtime.SiteTool,
		Arguments: arguments,
		Timeout:   o.CallTimeout,
		Map:       supplied,
	})
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
