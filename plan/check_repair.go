package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/authoring/repair"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/internal/element/lock"
	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/checks"
	"github.com/outrider-run/outrider/sites/location"
)

// ProposeRepairs updates lock files, when x remembers, and proposes repairs. It makes none: a check is an
// assertion, and with another target it may be one that cannot fail. An error here changes no
// result. It is returned, and added to the Errors of the check unless only a file could not be
// written.
func (c *CheckResult) ProposeRepairs(ctx context.Context, h Host, x Expectations, o Options) error {
	if ctx.Err() != nil {
		return nil // why is said of the pages
	}
	var all []error
	took := func(err error) {
		for _, e := range repair.Each(err) {
			var f *fault.Error
			known := errors.As(e, &f)
			if known && slices.ContainsFunc(c.Errors, func(o *fault.Error) bool { return o.Message == f.Message }) {
				continue // of a lock file that several pages need
			}
			all = append(all, e)
			if known {
				c.Errors = append(c.Errors, f)
			}
		}
	}
	var err error
	if x.Remember {
		c.Locks, err = c.UpdateLocks(o.Maps)
		took(err)
	}
	c.Repairs, err = c.repair(ctx, h, x, o)
	took(err)
	c.OK = c.OK && len(c.Errors) == 0
	return errors.Join(all...)
}

// repair proposes changes of the maps whose checks failed or drifted. Each was
// verified: the check was run again, on the same page, with the changed map.
func (c CheckResult) repair(ctx context.Context, h Host, x Expectations, o Options) ([]repair.Repaired, error) {
	byFile := map[string]*repair.Repaired{}
	var failed []error
	for i, p := range c.Pages {
		if !slices.ContainsFunc(p.Checks, func(k checks.Check) bool {
			return k.Status == "failed" || k.Status == "drifted"
		}) {
			continue
		}
		p, err := c.withRepairs(ctx, h, x, c.tabs[i], p, o)
		failed = append(failed, err)
		for _, k := range p.Checks {
			failed = append(failed, repairCheck(ctx, h, x, c.tabs[i], k, byFile, o))
		}
	}
	out := []repair.Repaired{}
	for _, r := range byFile {
		if len(r.Checks) == 0 {
			continue
		}
		r.Proposed = true
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b repair.Repaired) int { return strings.Compare(a.File, b.File) })
	return out, errors.Join(failed...)
}

// repairCheck adds the change with which a check passes to those of its file.
func repairCheck(
	ctx context.Context, h Host, x Expectations, tab runtime.Target,
	k checks.Check, byFile map[string]*repair.Repaired, o Options,
) error {
	changes := changesFor(k)
	file, ok := o.Maps(k.MapPath)
	// The check is run with its own map alone, so a target of another map cannot
	// be verified.
	if len(changes) == 0 || !ok ||
		slices.ContainsFunc(changes, func(ch repair.Change) bool { return ch.MapPath != k.MapPath }) {
		return nil
	}
	r := byFile[file]
	if r == nil {
		var err error
		r, err = repair.Read(file)
		if err != nil {
			return err
		}
		byFile[file] = r
	}
	next, err := r.With(changes...)
	if err != nil {
		return err
	}
	good, err := passes(ctx, h, x, tab, k, next, o)
	if good {
		r.Take(next, repair.Change{MapPath: k.MapPath, Who: k.ID})
	}
	return err
}

// withRepairs is a page checked again with what its lock files remember; the page
// itself where there are none.
func (c CheckResult) withRepairs(
	ctx context.Context, h Host, x Expectations, tab runtime.Target, p report.Page, o Options,
) (report.Page, error) {
	locks := map[string]*lock.File{}
	var failed []error
	for _, path := range p.Maps {
		file, ok := o.Maps(path)
		if !ok {
			continue
		}
		f, err := lock.Read(lock.PathOf(file))
		if err != nil {
			failed = append(failed, err)
		} else if len(f.Targets) > 0 {
			locks[path] = f
		}
	}
	if len(locks) == 0 {
		return p, errors.Join(failed...)
	}
	x.locks, x.Settle = locks, 0
	again, err := checkPage(ctx, h, x, tab, nil, o)
	if err != nil {
		return p, errors.Join(append(failed, err)...)
	}
	return again, errors.Join(failed...)
}

// changesFor are the changes that could make a check pass.
func changesFor(k checks.Check) []repair.Change {
	var out []repair.Change
	// One that would put a secret into the map is none.
	add := func(mapPath, pointer string, target json.RawMessage) {
		if pointer != "" && len(target) > 0 && len(mask.Used(string(target))) == 0 && !slices.ContainsFunc(
			out, func(c repair.Change) bool { return c.MapPath == mapPath && c.Pointer == pointer },
		) {
			out = append(out, repair.Change{MapPath: mapPath, Pointer: pointer, Target: target})
		}
	}
	if k.Status == "failed" {
		for _, r := range k.Repairs {
			add(r.MapPath, r.Pointer, r.Target)
		}
	}
	if k.Status == "drifted" {
		for _, d := range k.Drift {
			add(d.MapPath, d.Pointer, d.Proposal)
		}
	}
	return out
}

// verifiedAt is the path of a map that is verified. It applied to the page already, and
// where its file lies can say that it is for another page, so it is one for every page.
// A map of others keeps its path, which says what it may do.
func verifiedAt(mapPath string) string {
	if loc, ok := location.Locate(mapPath); ok && (loc.Scope == location.Shared || loc.Scope == location.Public) {
		return mapPath
	}
	return "actions.json"
}

// passes runs the checks of a map and says whether the one at the same place passes.
func passes(
	ctx context.Context, h Host, x Expectations, tab runtime.Target, k checks.Check, text []byte, o Options,
) (bool, error) {
	x.Remember, x.locks = false, nil
	p, err := checkPage(
		ctx, h, x, tab,
		&runtime.SuppliedMap{Path: verifiedAt(k.MapPath), JSON: bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))}, o,
	)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(p.Checks, func(again checks.Check) bool {
		return again.Pointer == k.Pointer && again.Status == "passed"
	}), nil
}

// encoded is what was read from JSON as JSON again.
func encoded(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // it came from JSON
	}
	return b
}

// PrintRepairs shows what was written, and each repair as a diff.
func (c CheckResult) PrintRepairs(w io.Writer) { repair.Print(w, c.Locks, c.Repairs, false) }

// UpdateLocks writes what the checks found into the lock files beside their maps. It
// returns the files that changed.
func (c CheckResult) UpdateLocks(files repair.Files) ([]string, error) {
	var seen []checks.Remembered
	for _, p := range c.Pages {
		for _, k := range p.Checks {
			seen = append(seen, k.Remembered...)
		}
	}
	return repair.UpdateLocks(seen, files, c.warn)
}
