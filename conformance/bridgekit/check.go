package bridgekit

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/outrider-run/outrider/evidence/report"
)

// Level is how much a check counts.
type Level string

const (
	// Required: the peers that exist rely on it.
	Required Level = "required"
	// Recommended: the protocol text wants it, or it makes a peer safer; the
	// upstream peers do not all do it.
	Recommended Level = "recommended"
)

// Outcome of one check.
type Outcome string

const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Skipped Outcome = "skipped"
)

// Check is one thing that is tested.
type Check struct {
	// ID names it in reports and in docs/reference/bridge-conformance.md.
	ID string
	// Title is the requirement.
	Title string
	Level Level
	// slow ones wait for what takes seconds by itself. They are the last, and run
	// beside each other.
	slow bool
	run  func(*run)
}

// Result is what became of a check.
type Result struct {
	ID      string  `json:"id"`
	Title   string  `json:"title"`
	Level   Level   `json:"level"`
	Outcome Outcome `json:"outcome"`
	Reason  string  `json:"reason,omitempty"`
	Millis  int64   `json:"duration_ms"`
}

// Report is what became of a peer.
type Report struct {
	// Kind is bridge or runtime, Peer what it says that it is.
	Kind    string   `json:"kind"`
	Peer    string   `json:"peer"`
	OK      bool     `json:"ok"` // no required check failed
	Results []Result `json:"checks"`
	started time.Time
}

// run is one check on its way.
type run struct {
	*kit
	ctx context.Context
	id  string
}

// stopped ends a check; why is empty for a failure that was noted.
type stopped struct {
	outcome Outcome
	why     string
}

func (r *run) fail(format string, args ...any) {
	panic(stopped{Failed, fmt.Sprintf(format, args...)})
}

func (r *run) skip(format string, args ...any) {
	panic(stopped{Skipped, fmt.Sprintf(format, args...)})
}

func (r *run) check(err error, doing string) {
	if err != nil {
		r.fail("%s: %v", doing, err)
	}
}

// kit is one run of all checks.
type kit struct {
	bridge  *BridgeOptions
	runtime *RuntimeOptions
	subject *subject // of a runtime
	mu      sync.Mutex
	wires   []*wire
	next    int
	calls   sync.WaitGroup
}

// test runs one check.
func (k *kit) test(ctx context.Context, c Check) (out Result) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	start := time.Now()
	out = Result{ID: c.ID, Title: c.Title, Level: c.Level, Outcome: Passed}
	defer func() {
		out.Millis = time.Since(start).Milliseconds()
		switch end := recover().(type) {
		case nil:
		case stopped:
			out.Outcome, out.Reason = end.outcome, end.why
		default:
			panic(end)
		}
	}()
	c.run(&run{kit: k, ctx: ctx, id: c.ID})
	return out
}

// all runs the checks, and the slow ones beside each other.
func (k *kit) all(ctx context.Context, checks []Check, only func(string) bool, each func(Result)) []Result {
	results := []Result{}
	done := func(r Result) {
		results = append(results, r)
		if each != nil {
			each(r)
		}
	}
	var slow []Check
	for _, c := range checks {
		switch {
		case !only(c.ID) || ctx.Err() != nil:
		case c.slow:
			slow = append(slow, c)
		default:
			done(k.test(ctx, c))
		}
	}
	beside := make([]Result, len(slow))
	var wg sync.WaitGroup
	for i, c := range slow {
		wg.Go(func() { beside[i] = k.test(ctx, c) })
	}
	wg.Wait()
	for _, r := range beside {
		done(r)
	}
	return results
}

// close ends every connection.
func (k *kit) close() {
	k.mu.Lock()
	wires := k.wires
	k.wires = nil
	k.mu.Unlock()
	for _, w := range wires {
		w.end()
	}
	k.calls.Wait()
}

func newReport(kind, peer string, started time.Time, results []Result) Report {
	r := Report{Kind: kind, Peer: peer, OK: true, Results: results, started: started}
	for _, c := range results {
		if c.Level == Required && c.Outcome == Failed {
			r.OK = false
		}
	}
	return r
}

// Counts says how many results there are of each outcome.
func (r Report) Counts() map[Outcome]int {
	out := map[Outcome]int{}
	for _, c := range r.Results {
		out[c.Outcome]++
	}
	return out
}

// Line is a result on one line, with the reason on a second.
func (r Result) Line() string {
	line := fmt.Sprintf("%-7s  %-11s  %-20s  %6d ms  %s", r.Outcome, r.Level, r.ID, r.Millis, r.Title)
	if r.Reason != "" {
		line += "\n         " + r.Reason
	}
	return line
}

// Summary prints the counts.
func (r Report) Summary(w io.Writer) error {
	counts, word := r.Counts(), "conforms"
	if !r.OK {
		word = "does not conform"
	}
	_, err := fmt.Fprintf(
		w, "\nthe %s %s %s: %d passed, %d failed, %d skipped\n",
		r.Kind, r.Peer, word, counts[Passed], counts[Failed], counts[Skipped],
	)
	return err
}

// Run is the report in the form that files are made of.
func (r Report) Run() report.Run {
	suite := report.Suite{Name: "conformance of the " + r.Kind + " " + r.Peer, Tests: []report.Test{}}
	for _, c := range r.Results {
		test := report.Test{
			Name:        c.ID,
			Class:       "conformance." + r.Kind,
			Description: c.Title,
			DurationMS:  c.Millis,
			Outcome:     report.Outcome(c.Outcome),
			Kind:        string(c.Level),
			Message:     c.Reason,
		}
		if c.Outcome == Failed && c.Level == Recommended {
			// It does not make the run fail: the report shows it as a drift.
			test.Outcome = report.Drifted
		}
		if c.Outcome == Failed {
			test.Failures = []report.Failure{{Message: c.Reason, Expected: c.Title}}
		}
		suite.DurationMS += c.Millis
		suite.Tests = append(suite.Tests, test)
	}
	out := report.Run{
		Title:      suite.Name,
		OK:         r.OK,
		Suites:     []report.Suite{suite},
		DurationMS: time.Since(r.started).Milliseconds(),
		Result:     r,
	}
	out.StartedAt = r.started.UTC().Format(time.RFC3339)
	return out
}
