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

	"github.com/outrider-run/outrider/evidence/record"
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
// time is not searched for. A search that is ended leaves the shortest list so far.
func Minimise(ctx context.Context, l *Log, o Options, folder string) (*Minimal, error) {
	o.OnCall, o.Step = nil, nil
	whole, err := Play(ctx, l, o)
	if err != nil {
		return nil, err
	}
	if whole.Verdict == Cannot || len(whole.Calls) == 0 {
		return nil, fault.New(fault.InvalidInput, "the log cannot be replayed, so it cannot be minimised").With("missing", whole.Missing)
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
	wanted := whole.Calls[at-1]
	out := &Minimal{Of: len(l.Calls), Runs: 1, Result: wanted.Is, Differences: wanted.Differences}
	o.Until = 0
	last := l.Calls[at-1]
	shows := func(before []Call, last Call) (bool, error) {
		shorter := *l
		shorter.Calls = append(slices.Clone(before), last)
		for i := range shorter.Calls[:len(before)] {
			shorter.Calls[i].Expected = Expected{} // how they go does not matter
		}
		out.Runs++
		r, err := Play(ctx, &shorter, o)
		if err != nil || len(r.Calls) != len(shorter.Calls) {
			return false, err
		}
		is := r.Calls[len(r.Calls)-1]
		return is.Is.OK == wanted.Is.OK && is.Is.Code == wanted.Is.Code && is.Is.Step == wanted.Is.Step && slices.EqualFunc(is.Differences, wanted.Differences, samePlace), nil
	}
	before := slices.Clone(l.Calls[:at-1])
	if ok, err := shows(before, last); err != nil {
		return nil, err
	} else if !ok {
		return nil, fault.New(
			fault.InvalidInput, "what call %d shows was not seen a second time, so it cannot be minimised", at,
		).
			With("result", wanted.Is).With("differences", wanted.Differences).Next("replay it again on a quiet machine")
	}
	done := func() (*Minimal, error) {
		for _, c := range append(slices.Clone(before), last) {
			out.Calls = append(out.Calls, MinimalCall{c.Name, c.Arguments})
		}
		return out, out.write(l, folder)
	}
	ended := func(err error) (*Minimal, error) {
		if ctx.Err() == nil {
			return nil, err
		}
		out.Ended = true
		return done()
	}
	if ok, err := shows(nil, last); err != nil {
		return ended(err)
	} else if ok {
		before = nil
	}
	_, err = smallest(slices.Clone(before), func(list []Call) (bool, error) {
		ok, err := shows(list, last)
		if ok {
			before = slices.Clone(list)
		}
		return ok, err
	})
	if err != nil {
		return ended(err)
	}
	// Fewer arguments: first of the call in question, then of those before it.
	for i := len(before); i >= 0; i-- {
		c := last
		if i < len(before) {
			c = before[i]
		}
		smaller, err := fewer(c, func(try Call) (bool, error) {
			if i == len(before) {
				return shows(before, try)
			}
			list := slices.Clone(before)
			list[i] = try
			return shows(list, last)
		})
		if err != nil {
			return ended(err)
		}
		if i < len(before) {
			before[i] = smaller
		} else {
			last = smaller
		}
	}
	return done()
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

// fewer leaves out the members of arguments that are not needed.
func fewer(c Call, holds func(Call) (bool, error)) (Call, error) {
	var args map[string]json.RawMessage
	if json.Unmarshal(c.Arguments, &args) != nil {
		return c, nil
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
			return c, err
		}
		try := c
		try.Arguments = raw
		ok, err := holds(try)
		if err != nil {
			return c, err
		}
		if ok {
			c, args = try, without
		}
	}
	return c, nil
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
		seen, origin := map[string]bool{}, originOf(beginning(l))
		for _, e := range l.Recording.Events {
			q, err := record.Of[record.Request](e)
			if e.Kind != record.KindRequest || err != nil || q.Body == "" || q.Method != "GET" || originOf(q.URL) != origin {
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
	if originOf(l.Open) != "" || l.Recording == nil {
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
