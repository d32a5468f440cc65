package plan

import (
	"cmp"
	"encoding/json"

	"github.com/outrider-run/outrider/authoring/mend"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/runtime"
)

// Mend sets by what targets of the given maps are repaired that are not found. asked says
// that this is what the run is for.
func (o *Options) Mend(given []string, remember, heal, asked bool) (err error) {
	o.Maps, o.Remember, o.Heal = mend.FilesOf(given), remember, heal
	if o.Locks, err = mend.LocksOf(given); err == nil && asked && len(o.Locks) == 0 {
		o.warn("nothing can be repaired: no actions.lock.json lies beside the maps; run with --update-lock while all is well")
	}
	return err
}

// appearance is what is asked about the elements of an action's steps. An attempt after
// which another comes goes on with nothing: what it did would be done twice.
func (r *run) appearance(x *spec.Step, last bool) *runtime.Appearance {
	if x.Action == "" {
		return nil
	}
	return r.o.appearance(r.o.Heal || last)
}

// appearance asks for others in the place of elements that are not found where mends is set.
func (o Options) appearance(mends bool) *runtime.Appearance {
	locks := len(o.Locks) > 0 && mends
	if !o.Remember && !locks {
		return nil
	}
	a := &runtime.Appearance{Remember: o.Remember}
	if locks {
		raw, err := json.Marshal(o.Locks)
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
	wentOn, cause := mend.WentOn(reply.Repairs, r.o.Maps, x.Action)
	if cause == nil {
		return
	}
	result.lost = r.o.Secrets.Fault(cause)
	if reply.Err == nil {
		result.mended = wentOn
	}
	if r.o.Heal && len(result.mended) > 0 {
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
	r.Healed = mend.Diff(r.mended)
}

// Repairs are the maps as they could be, by what the steps of the run were mended with.
func (r Result) Repairs() []mend.Repaired {
	var all []mend.Mended
	for _, c := range r.Cases {
		for _, s := range c.Steps {
			all = append(all, s.mended...)
		}
	}
	return mend.Maps(all)
}

// UpdateLocks writes what the steps of the run found into the lock files beside their
// maps. It returns the files that changed.
func (r Result) UpdateLocks(files mend.Files) ([]string, error) {
	var seen []report.Remembered
	for _, c := range r.Cases {
		for _, s := range c.Steps {
			seen = append(seen, s.remembered...)
		}
	}
	return mend.UpdateLocks(seen, files, r.warn)
}
