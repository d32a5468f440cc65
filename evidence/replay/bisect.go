package replay

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/outrider-run/outrider/primitives/quirks"
)

// Bisection says which quirks of the extension profile explain that a call goes otherwise there than in the
// strict profile.
type Bisection struct {
	// Quirks is the smallest set with which the log is reproduced. Empty: no quirk is needed.
	Quirks []QuirkFound `json:"quirks"`
	// Call is the number of the call that goes otherwise, 0 for none.
	Call int    `json:"call"`
	Name string `json:"name,omitempty"`
	Was  string `json:"was,omitempty"`    // in the log, and with the quirks
	Is   string `json:"strict,omitempty"` // without any
	// With and Without prove it: with these alone the log is reproduced, with all others it is not. Without is
	// false where other quirks explain the call too.
	With    bool `json:"with_these_reproduced"`
	Without bool `json:"without_these_differs"`
	Runs    int  `json:"runs"`
	// Report is that of a log that could not be repeated, or is not reproduced with all quirks.
	Report *Report `json:"report,omitempty"`
}

// QuirkFound is a quirk with what it does.
type QuirkFound struct {
	Name     quirks.Name `json:"name"`
	Upstream string      `json:"extension"`
	Strict   string      `json:"strict"`
}

// BisectQuirks finds the quirks that explain a log.
func BisectQuirks(ctx context.Context, l *Log, o Options) (*Bisection, error) {
	out := &Bisection{Quirks: []QuirkFound{}}
	o.OnCall, o.Step = nil, nil
	known := map[string]*Report{} // by the names of the set
	run := func(names []quirks.Name) (*Report, error) {
		key := fmt.Sprint(o.Until, names)
		if r := known[key]; r != nil {
			return r, nil
		}
		set := quirks.Of(names...)
		if o.used != nil {
			set = set.Watched(o.used)
		}
		o.Quirks = &set
		out.Runs++
		r, err := Play(ctx, l, o)
		if err == nil {
			known[key] = r
		}
		return r, err
	}
	all := quirks.Extension().Names()
	used := &quirks.Used{}
	o.used = used
	upstream, err := run(all)
	o.used = nil
	if err != nil || upstream.Verdict != Reproduced {
		out.Report = upstream
		return out, err
	}
	strict, err := run(nil)
	if err != nil || strict.Verdict == Reproduced {
		return out, err
	}
	differing := strict.Calls[strict.First-1]
	out.Call = strict.First
	out.Name = differing.Name
	out.Was = outcome(differing.Was)
	out.Is = outcome(differing.Is)
	o.Until = strict.First
	holds := func(names []quirks.Name) (bool, error) {
		if len(names) == 0 {
			return false, nil // that is the strict profile
		}
		r, err := run(names)
		return err == nil && r.Verdict == Reproduced, err
	}
	// Only what was asked for can explain it. A document that was left may have been asked for more.
	found, err := smallest(used.Names(), holds)
	if err != nil {
		return nil, err
	}
	if ok, err := holds(found); err != nil {
		return nil, err
	} else if !ok {
		found, err = smallest(all, holds)
		if err != nil {
			return nil, err
		}
	}
	with, err := run(found)
	if err != nil {
		return nil, err
	}
	without, err := run(slices.DeleteFunc(slices.Clone(all), func(n quirks.Name) bool {
		return slices.Contains(found, n)
	}))
	if err != nil {
		return nil, err
	}
	out.With, out.Without = with.Verdict == Reproduced, without.Verdict == Differs
	for _, q := range quirks.All() {
		if slices.Contains(found, q.Name) {
			out.Quirks = append(out.Quirks, QuirkFound{q.Name, q.Upstream, q.Strict})
		}
	}
	return out, nil
}

// smallest reduces a list that holds, until it holds no more without any one of its members (delta debugging).
func smallest[T any](list []T, holds func([]T) (bool, error)) ([]T, error) {
	for parts := 2; len(list) > 1; {
		size := (len(list) + parts - 1) / parts
		reduced := false
		for _, alone := range []bool{true, false} {
			for from := 0; from < len(list) && !reduced; from += size {
				to := min(from+size, len(list))
				try := list[from:to]
				if !alone {
					try = slices.Concat(list[:from], list[to:])
				}
				if len(try) == 0 || len(try) == len(list) || !alone && parts == 2 {
					continue // with two parts the rest of one is the other
				}
				ok, err := holds(slices.Clone(try))
				if err != nil {
					return nil, err
				}
				if ok {
					list, reduced = slices.Clone(try), true
					if alone {
						parts = 2
					} else {
						parts = max(parts-1, 2)
					}
				}
			}
			if reduced {
				break
			}
		}
		if !reduced {
			if parts >= len(list) {
				break
			}
			parts = min(parts*2, len(list))
		}
	}
	if len(list) == 1 {
		if ok, err := holds(nil); err != nil || ok {
			return nil, err
		}
	}
	return list, nil
}

// Print writes it for people.
func (b *Bisection) Print(w io.Writer) {
	switch {
	case b.Report != nil:
		b.Report.Print(w)
		fmt.Fprintln(w, "the log is not reproduced in the profile extension, so there is nothing to bisect")
	case b.Call == 0:
		fmt.Fprintln(w, "the log is reproduced in both profiles: no quirk explains it")
	default:
		fmt.Fprintf(w, "call %d %s: %s with the quirks, %s without\n", b.Call, b.Name, b.Was, b.Is)
		for _, q := range b.Quirks {
			fmt.Fprintf(w, "quirk %s\n  extension: %s\n  strict: %s\n", q.Name, q.Upstream, q.Strict)
		}
		fmt.Fprintf(
			w, "with these alone the log is reproduced: %v; with all others it differs: %v; %d runs\n",
			b.With, b.Without, b.Runs,
		)
	}
}
