package plan

import (
	"cmp"
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
	"github.com/outrider-run/outrider/primitives/fault"
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

// appearance is what is asked about the elements of an action's steps. An attempt after
// which another comes goes on with nothing: what it did would be done twice.
func (r *run) appearance(x *spec.Step, last bool) *runtime.Appearance {
	locks := len(r.o.Locks) > 0 && (r.o.Heal || last)
	if x.Action == "" || !r.o.Remember && !locks {
		return nil
	}
	a := &runtime.Appearance{Remember: r.o.Remember}
	if locks {
		raw, err := json.Marshal(r.o.Locks)
		if err != nil {
			return nil
		}
		a.Locks = raw
	}
	return a
}

// look keeps what a reply says of the elements of steps. An action that went on with
// another target than its map says is what it came to when the run may heal. Else it
// stays the failure that it is with this map.
func (r *run) look(result *StepResult, x *spec.Step, reply runtime.Reply) {
	if len(reply.Remembered) > 0 {
		_ = json.Unmarshal(reply.Remembered, &result.remembered) // the runtime wrote it
	}
	var wentOn []struct {
		MapPath string          `json:"map_path"`
		Pointer string          `json:"pointer"`
		Target  json.RawMessage `json:"target"`
		Step    string          `json:"step_id"`
		Cause   *fault.Error    `json:"cause"`
	}
	if len(reply.Repairs) == 0 || json.Unmarshal(reply.Repairs, &wentOn) != nil || len(wentOn) == 0 {
		return
	}
	result.lost = r.o.Secrets.Fault(wentOn[0].Cause)
	if reply.Err == nil && r.o.Maps != nil {
		for _, w := range wentOn {
			if file, known := r.o.Maps(w.MapPath); known {
				result.mended = append(result.mended, mended{file, change{w.MapPath, w.Pointer, w.Target}, x.Action + ": " + w.Step})
			}
		}
	}
	if r.o.Heal && len(result.mended) == len(wentOn) {
		return
	}
	result.OK, result.Error = false, result.lost
}

// heal says with which change a step is well that had failed without it.
func (r *StepResult) heal() {
	if r.lost == nil {
		return
	}
	if !r.OK {
		r.Error = cmp.Or(r.Error, r.lost)
		return
	}
	byFile := map[string][]mended{}
	for _, m := range r.mended {
		byFile[m.file] = append(byFile[m.file], m)
	}
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		if fixed := repairOf(file, byFile[file]); fixed != nil {
			r.Healed += fixed.Diff
		}
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
