package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Minimal is the shortest list of calls that still shows what a log shows.
type Minimal struct {
	Calls  []MinimalCall `json:"calls"`
	Of     int           `json:"of"`     // calls of the log
	Result Outcome       `json:"result"` // of the last call
	Files  []string      `json:"files"`
	Runs   int           `json:"runs"`
	// Differences are those of the call in question, which each shorter list showed too.
	Differences []Difference `json:"differences"`
	// Ended is set when the search was ended: the list is the shortest until then.
	Ended bool `json:"ended,omitempty"`
}

// MinimalCall is one call of it.
type MinimalCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Minimise finds the shortest list of calls, and the fewest arguments, after which the call in question goes as
// it does in a replay of the whole log: the first whose result differs, or else the last that fails, or the
// last. It writes them to a folder, with the pages of the recording. What the whole log does not show a second
// time is not searched for. A search that is ended leaves the shortest list so far. What it does is written to
// words, for people.
func Minimise(ctx context.Context, l *Log, o Options, folder string, words io.Writer) (*Minimal, error) {
	o.OnCall, o.Step = nil, nil
	fmt.Fprintf(words, "replaying %d calls\n", len(l.Calls))
	whole, err := Play(ctx, l, o)
	if err != nil {
		return nil, err
	}
	if whole.Verdict == Cannot || len(whole.Calls) == 0 {
		return nil, fault.New(fault.InvalidInput, "the log cannot be replayed, so it cannot be minimised").
			With("missing", whole.Missing)
	}
	at := whole.First
	for i := len(whole.Calls); i > 0 && at == 0; i-- {
		if !whole.Calls[i-1].Is.OK {
			at = i
		}
	}
	if at == 0 {
		at = len(whole.Calls)
	}
	o.Until = 0
	m := &minimiser{
		log:        l,
		opts:       o,
		at:         at,
		wanted:     whole.Calls[at-1],
		words:      words,
		reportedAt: time.Now(),
	}
	m.out = &Minimal{Of: len(l.Calls), Runs: 1, Result: m.wanted.Is, Differences: m.wanted.Differences}
	fmt.Fprintf(words, "call %d %s shows it (%s): replaying it again\n", at, m.wanted.Name, m.wanted.shows())
	defer m.leave()
	err = m.search(ctx)
	switch {
	case err == nil:
	case ctx.Err() != nil && m.confirmed:
		m.out.Ended = true
	default:
		return nil, err
	}
	for _, c := range append(slices.Clone(m.before), m.last) {
		m.out.Calls = append(m.out.Calls, MinimalCall{c.Name, c.Arguments})
	}
	return m.out, m.out.write(l, folder)
}

// minimiser is one search.
type minimiser struct {
	log        *Log
	opts       Options
	at         int        // number of the call in question
	wanted     CallResult // its result
	out        *Minimal
	words      io.Writer
	reportedAt time.Time // when something was last written to words

	confirmed bool // it was seen a second time
	// The shortest list so far: the call in question, and those before it.
	before []Call
	last   Call
}

// progressInterval is how often a search says that it goes on.
const progressInterval = 10 * time.Second

// search looks for the shortest list: first with one browser for all runs and no time lost, which takes seconds. Where
// that does not show what the log shows, or shows it with other calls than a replay does, it takes the long way.
func (m *minimiser) search(ctx context.Context) error {
	if err := m.share(ctx); err != nil {
		return err
	}
	for _, hurried := range []bool{true, false} {
		m.opts.hurried = hurried
		m.before, m.last = slices.Clone(m.log.Calls[:m.at-1]), m.log.Calls[m.at-1]
		if ok, err := m.shows(ctx, m.before, m.last); err != nil {
			return err
		} else if !ok {
			m.leave()
			continue
		}
		m.confirmed = true
		if err := m.shorten(ctx); err != nil {
			return err
		}
		if !hurried {
			return nil
		}
		// What was found is found only when a replay as any other shows it too.
		m.leave()
		m.opts.hurried = false
		fmt.Fprintf(m.words, "replaying the %d calls that are left as they were recorded\n", len(m.before)+1)
		if ok, err := m.shows(ctx, m.before, m.last); ok || err != nil {
			return err
		}
		fmt.Fprintln(m.words, "that shows it no more: searching again, each run with a browser of its own")
	}
	return fault.New(
		fault.InvalidInput, "what call %d shows was not seen a second time, so it cannot be minimised", m.at,
	).
		With("result", m.wanted.Is).With("differences", m.wanted.Differences).Next("replay it again on a quiet machine")
}

// share opens the one browser for all runs.
func (m *minimiser) share(ctx context.Context) error {
	set, err := profileOf(m.log, m.opts)
	if err == nil {
		m.opts.shared, err = share(ctx, m.log, m.opts, set)
	}
	return err
}

// leave ends the browser that runs share.
func (m *minimiser) leave() {
	if m.opts.shared != nil {
		m.opts.shared.close()
		m.opts.shared = nil
	}
}

// shows reports whether the call in question goes after these calls as it goes in the log.
func (m *minimiser) shows(ctx context.Context, before []Call, last Call) (bool, error) {
	shorter := *m.log
	shorter.Calls = append(slices.Clone(before), last)
	for i := range shorter.Calls[:len(before)] {
		shorter.Calls[i].Expected = Expected{} // how they go does not matter
	}
	m.out.Runs++
	if time.Since(m.reportedAt) > progressInterval {
		m.reportProgress()
	}
	r, err := Play(ctx, &shorter, m.opts)
	if err != nil || len(r.Calls) != len(shorter.Calls) {
		return false, err
	}
	is, wanted := r.Calls[len(r.Calls)-1], m.wanted
	return is.Is.OK == wanted.Is.OK && is.Is.Code == wanted.Is.Code && is.Is.Step == wanted.Is.Step &&
		slices.EqualFunc(is.Differences, wanted.Differences, samePlace), nil
}

// shorten leaves out the calls and arguments without which it shows the same.
func (m *minimiser) shorten(ctx context.Context) error {
	ok, err := m.shows(ctx, nil, m.last)
	if err != nil {
		return err
	}
	if ok {
		m.before = nil
	}
	_, err = smallest(slices.Clone(m.before), func(list []Call) (bool, error) {
		ok, err := m.shows(ctx, list, m.last)
		if ok {
			m.before = slices.Clone(list)
			m.reportProgress()
		}
		return ok, err
	})
	// Fewer arguments: first of the call in question, then of those before it.
	for i := len(m.before); i >= 0 && err == nil; i-- {
		if i == len(m.before) {
			err = fewer(m.last, func(try Call) (bool, error) {
				ok, err := m.shows(ctx, m.before, try)
				if ok {
					m.last = try
				}
				return ok, err
			})
			continue
		}
		err = fewer(m.before[i], func(try Call) (bool, error) {
			list := slices.Clone(m.before)
			list[i] = try
			ok, err := m.shows(ctx, list, m.last)
			if ok {
				m.before = list
			}
			return ok, err
		})
	}
	return err
}

// reportProgress says how far the search is.
func (m *minimiser) reportProgress() {
	m.reportedAt = time.Now()
	fmt.Fprintf(m.words, "%d of %d calls after %d runs\n", len(m.before)+1, m.out.Of, m.out.Runs)
}

// shows is a result in a few words.
func (r CallResult) shows() string {
	if len(r.Differences) == 0 {
		return outcome(r.Is)
	}
	d := r.Differences[0]
	return fmt.Sprintf("%s: was %v, is %v", d.Pointer, d.Was, d.Is)
}

// Print writes it for people.
func (m *Minimal) Print(w io.Writer) {
	fmt.Fprintf(w, "%d of %d calls are needed (%s), found in %d runs\n", len(m.Calls), m.Of, outcome(m.Result), m.Runs)
	if m.Ended {
		fmt.Fprintln(w, "the search was ended: fewer may do")
	}
	for _, d := range m.Differences {
		fmt.Fprintf(w, "  %s: was %v, is %v\n", d.Pointer, d.Was, d.Is)
	}
	for _, c := range m.Calls {
		fmt.Fprintf(w, "  %s %s\n", c.Name, c.Arguments)
	}
	for _, f := range m.Files {
		fmt.Fprintf(w, "wrote %s\n", f)
	}
}

func samePlace(a, b Difference) bool { return a.Pointer == b.Pointer }

// fewer leaves out the members of arguments that are not needed. holds keeps the call that it says is enough.
func fewer(c Call, holds func(Call) (bool, error)) error {
	var args map[string]json.RawMessage
	if json.Unmarshal(c.Arguments, &args) != nil {
		return nil
	}
	names := map[string]any{}
	for k := range args {
		names[k] = nil
	}
	delete(names, "timeout_ms") // without it the case takes longer, and shows the same
	for _, k := range sortedNames(names) {
		without := map[string]json.RawMessage{}
		for n, v := range args {
			if n != k {
				without[n] = v
			}
		}
		raw, err := json.Marshal(without)
		if err != nil {
			return err
		}
		c.Arguments = raw
		ok, err := holds(c)
		if err != nil {
			return err
		}
		if ok {
			args = without
		}
	}
	return nil
}

// write writes the calls, and what the recording has of the pages' own origin.
func (m *Minimal) write(l *Log, folder string) error {
	put := func(name string, data []byte) error {
		file := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		m.Files = append(m.Files, name)
		return os.WriteFile(file, data, 0o644) //nolint:gosec // it is there to be given to others
	}
	if l.Recording != nil {
		seen, origin := map[string]bool{}, address.Origin(beginning(l))
		for _, e := range l.Recording.Events {
			q, err := record.Of[record.Request](e)
			if e.Kind != record.KindRequest || err != nil || q.Body == "" || q.Method != "GET" ||
				address.Origin(q.URL) != origin {
				continue
			}
			name := fileOf(q)
			data, err := l.Recording.Data(q.Body)
			if err != nil || seen[name] {
				continue
			}
			seen[name] = true
			if err := put("site/"+name, data); err != nil {
				return fault.Wrap(fault.InvalidInput, err, "writing the smallest case")
			}
		}
	}
	slices.Sort(m.Files)
	text, err := json.MarshalIndent(map[string]any{
		"open":        pathOf(beginning(l)),
		"calls":       m.Calls,
		"result":      m.Result,
		"differences": m.Differences,
	}, "", "  ")
	if err == nil {
		err = put("calls.json", append(text, '\n'))
	}
	if err != nil {
		return fault.Wrap(fault.InvalidInput, err, "writing the smallest case")
	}
	return nil
}

// beginning is the address of the first page: a tab may be opened empty, and led there by a call.
func beginning(l *Log) string {
	if address.Origin(l.Open) != "" || l.Recording == nil {
		return l.Open
	}
	for _, e := range l.Recording.Events {
		if q, err := record.Of[record.Request](e); e.Kind == record.KindRequest && err == nil && q.Type == "document" {
			return q.URL
		}
	}
	return l.Open
}

func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "/"
	}
	return u.RequestURI()
}

// fileOf is the name under which a server of files gives the body of a request.
func fileOf(q record.Request) string {
	u, err := url.Parse(q.URL)
	if err != nil {
		return "index.html"
	}
	name := strings.TrimPrefix(path.Clean("/"+u.Path), "/")
	if name == "" || strings.HasSuffix(u.Path, "/") {
		name = path.Join(name, "index.html")
	} else if path.Ext(name) == "" && strings.HasPrefix(q.MimeType, "text/html") {
		name = path.Join(name, "index.html")
	}
	return name
}
