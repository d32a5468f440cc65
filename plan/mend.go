package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/outrider-run/outrider/authoring/edit"
	"github.com/outrider-run/outrider/authoring/lock"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/sites"
)

// mended is a target with which an action was done that failed without it.
type mended struct {
	file   string
	change change
	who    string // the action and its step
}

// LocksOf are the lock files beside the maps that were given as files and as storage
// folders, by the path that results call the map by.
func LocksOf(given []string) (map[string]*lock.File, error) {
	out := map[string]*lock.File{}
	var failed error
	add := func(mapPath, file string) {
		f, err := lock.Read(lock.PathOf(file))
		if err != nil {
			failed = err
		} else if len(f.Targets) > 0 {
			out[mapPath] = f
		}
	}
	for _, g := range given {
		info, err := os.Stat(g)
		switch {
		case err != nil:
		case !info.IsDir():
			add(filepath.ToSlash(filepath.Clean(g)), g)
			add(filepath.Base(g), g)
			add(sites.ShownPath(g), g)
		default:
			_ = filepath.WalkDir(g, func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() && filepath.Base(path) == "actions.json" {
					if rel, err := filepath.Rel(g, path); err == nil {
						add(filepath.ToSlash(rel), path)
					}
				}
				return nil
			})
		}
	}
	return out, failed
}

// appearance is what is asked about the elements of an action's steps.
func (r *run) appearance(x *spec.Step) *runtime.Appearance {
	if x.Action == "" || !r.o.Remember && len(r.o.Locks) == 0 {
		return nil
	}
	a := &runtime.Appearance{Remember: r.o.Remember}
	if len(r.o.Locks) > 0 {
		raw, err := json.Marshal(r.o.Locks)
		if err != nil {
			return nil
		}
		a.Locks = raw
	}
	return a
}

// look keeps what a reply says of the elements of steps.
func (r *StepResult) look(reply runtime.Reply) {
	if len(reply.Remembered) > 0 {
		_ = json.Unmarshal(reply.Remembered, &r.remembered) // the runtime wrote it
	}
	r.proposed = reply.Repairs
}

// looking are the types of abstract steps after which an action can be done again from
// its start: they change nothing.
var looking = []string{"inspect", "find", "locate", "hover", "scroll", "wait", "wait_for", "extract", "read", "collect", "assert", "screenshot"}

// proposed is the target that was proposed for a step, and the map with it; ok is false
// where there is none, or where the action had changed something before it failed.
func (r *run) proposed(x *spec.Step, result *StepResult) (m mended, with *runtime.SuppliedMap, ok bool) {
	var proposed []struct {
		MapPath string          `json:"map_path"`
		Pointer string          `json:"pointer"`
		Target  json.RawMessage `json:"target"`
	}
	if r.o.Maps == nil || json.Unmarshal(result.proposed, &proposed) != nil || len(proposed) != 1 {
		return m, nil, false
	}
	var steps []struct {
		ID   string `json:"id"`
		Type string `json:"type"`
		OK   bool   `json:"ok"`
	}
	if json.Unmarshal(result.Steps, &steps) != nil || len(steps) == 0 {
		return m, nil, false
	}
	for _, s := range steps[:len(steps)-1] {
		if !slices.Contains(looking, s.Type) {
			return m, nil, false
		}
	}
	p := proposed[0]
	file, known := r.o.Maps(p.MapPath)
	if !known {
		return m, nil, false
	}
	before, err := os.ReadFile(file)
	if err != nil {
		return m, nil, false
	}
	after, err := edit.Replace(before, p.Pointer, p.Target)
	if err != nil {
		return m, nil, false
	}
	m = mended{file, change{p.MapPath, p.Pointer, p.Target}, x.Action + ": " + steps[len(steps)-1].ID}
	return m, &runtime.SuppliedMap{Path: verifiedAt(p.MapPath), JSON: bytes.TrimPrefix(after, []byte("\xef\xbb\xbf"))}, true
}

// mend does an action again with the target that was proposed for it. What it failed at
// stays a failure, unless the run may heal: then the step is what it came to this time,
// and says with which change.
func (r *run) mend(ctx context.Context, s, x *spec.Step, blank StepResult, result *StepResult, at place) {
	m, with, ok := r.proposed(x, result)
	if !ok || ctx.Err() != nil {
		return
	}
	if r.o.Heal {
		r.with = with
		again, _ := r.attempt(ctx, s, x, blank)
		r.with = nil
		if !again.OK {
			return
		}
		again.mended, again.Failed = []mended{m}, result.Failed
		if fixed := repairOf(m.file, again.mended); fixed != nil {
			again.Healed = fixed.Diff
		}
		*result = again
		return
	}
	name, arguments, err := request(x)
	if err != nil {
		return
	}
	reply := at.session.Do(ctx, runtime.Call{ID: r.o.NewID(), Target: at.target, Name: name, Arguments: arguments, Timeout: r.o.CallTimeout, Map: with})
	if reply.Err == nil {
		result.mended = append(result.mended, m)
	}
}

// Repairs are the maps as they could be, by what the steps of the run were mended with.
func (r Result) Repairs() []Repaired {
	byFile := map[string][]mended{}
	for _, c := range r.Cases {
		for _, s := range c.Steps {
			for _, m := range s.mended {
				if !slices.ContainsFunc(byFile[m.file], func(o mended) bool { return o.change.pointer == m.change.pointer }) {
					byFile[m.file] = append(byFile[m.file], m)
				}
			}
		}
	}
	out := []Repaired{}
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		if fixed := repairOf(file, byFile[file]); fixed != nil {
			out = append(out, *fixed)
		}
	}
	return out
}

// repairOf is one file with changes; nil when it is no longer as it was.
func repairOf(file string, changes []mended) *Repaired {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	r := &Repaired{File: file, before: text, after: text}
	for _, m := range changes {
		if r.after, err = edit.Replace(r.after, m.change.pointer, m.change.target); err != nil {
			return nil
		}
		r.Checks = append(r.Checks, m.who)
	}
	r.Diff = diffOf(file, r.before, r.after)
	return r
}

// UpdateLocks writes what the steps of the run found into the lock files beside their
// maps. It returns the files that changed.
func (r Result) UpdateLocks(files MapFiles) ([]string, error) {
	var seen []report.Remembered
	for _, c := range r.Cases {
		for _, s := range c.Steps {
			seen = append(seen, s.remembered...)
		}
	}
	return updateLocks(seen, files)
}
