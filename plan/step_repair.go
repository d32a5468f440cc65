package plan

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/authoring/repair"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/checks"
)

// SetRepair sets the lock files that repair targets of the given maps. asked reports that the run
// was started to repair.
func (o *Options) SetRepair(given []string, remember, replace, isPurpose bool) (err error) {
	o.Maps = repair.FilesOf(given)
	o.Remember = remember
	o.Heal = replace
	o.repairs = isPurpose
	o.Locks, err = repair.LocksOf(given)
	if err == nil && isPurpose && len(o.Locks) == 0 {
		o.warn("nothing can be repaired: no actions.lock.json lies beside the maps; run with --update-lock while all " +
			"is well")
	}
	return err
}

// appearance is what is asked about the elements of an action's steps. Only the last attempt may take another element:
// an attempt that is repeated would act twice.
func (r *run) appearance(x *spec.Step, last bool) *runtime.Appearance {
	if x.Action == "" {
		return nil
	}
	return r.o.appearance(r.o.Heal || last)
}

// appearance asks for others in place of those that are not found when repairs is set.
func (o Options) appearance(repairs bool) *runtime.Appearance {
	locks := len(o.Locks) > 0 && repairs
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

// keepAppearance keeps what a reply says of the elements of steps. When an action used another target
// than its map names, its result counts only if the run may repair targets. Otherwise the step
// fails, as it does with the map.
func (r *run) keepAppearance(result *StepResult, x *spec.Step, reply runtime.Reply) {
	if len(reply.Remembered) > 0 {
		_ = json.Unmarshal(reply.Remembered, &result.remembered) // the runtime wrote it
	}
	wentOn, cause := repair.WentOn(reply.Repairs, r.o.Maps, x.Action)
	if cause == nil {
		return
	}
	result.lost = r.o.Secrets.Fault(cause)
	if reply.Err == nil {
		result.repaired = wentOn
	}
	if !r.mayRepair(result) {
		result.lose()
	}
}

// mayRepair reports whether the change with which an action went on may make its step well.
func (r *run) mayRepair(result *StepResult) bool { return r.o.Heal && len(result.repaired) > 0 }

// lose makes the step what it is without the change.
func (r *StepResult) lose() {
	r.OK = false
	r.Error = r.lost
	r.Output = nil
}

// expectLoss has a step fail for which it is expected that a target is not found, although
// the run may heal.
func (r *run) expectLoss(ctx context.Context, list spec.Expectations, result *StepResult) {
	if !result.OK || result.lost == nil {
		return
	}
	without := *result
	without.lose()
	for _, e := range list {
		if e.Forgives() && len(r.falseOf(ctx, e, without)) > 0 {
			return
		}
	}
	*result = without
}

// mayProveRepair reports whether what the plan expects could tell a step that goes on with another target from one that
// does nothing. A plan that expects nothing of the page says nothing about it.
func (r *run) mayProveRepair(ctx context.Context, at place, s, x *spec.Step) bool {
	if !r.o.repairs || len(r.o.Locks) == 0 || x.Action == "" || x.Open != "" {
		return true
	}
	list := r.next(s, x)
	judged, held := r.heldBefore(ctx, at, list)
	return len(list) == 0 || !judged || !held
}

// refuseRepair neither takes nor proposes another target where all that is expected of the step held before it.
func (r *StepResult) refuseRepair() {
	if len(r.repaired) == 0 {
		return
	}
	diff := report.Text{Title: "repair that is not taken", Body: repair.Diff(r.repaired), Diff: true}
	r.texts = append(r.texts, diff)
	r.repaired = nil
	r.lose()
	r.Unmet = "the repaired target is not taken: all that the plan expects of the step held before it, so nothing " +
		"tells it from a step that does nothing"
	r.unmet = []report.Failure{{Message: r.Unmet, Place: r.at}}
}

// judgeRepair drops a repaired target when what the step expects does not hold with it. Without Heal the run has not
// gone on with that target, so it is asked here.
func (r *run) judgeRepair(
	ctx context.Context, at place, x *spec.Step, since marks, result *StepResult, reply runtime.Reply,
) {
	if !r.o.repairs || r.o.Heal || len(result.repaired) == 0 || len(x.Expect) == 0 {
		return
	}
	with := *result
	with.OK = true
	with.Error = nil
	with.Output = reply.Output
	r.expect(ctx, at, x.Expect, since, &with)
	if !with.OK {
		result.repaired = nil
	}
}

// reportRepair writes down the change without which the step would have failed. A step whose failure
// was expected needs no change, so nothing is repaired.
func (r *StepResult) reportRepair() {
	switch {
	case r.lost == nil:
	case !r.OK:
		r.Error = cmp.Or(r.Error, r.lost)
		if r.Unmet != "" {
			r.repaired = nil // it was judged with the change, and is not well
		}
	case r.Error == r.lost:
		r.repaired = nil
	default:
		r.Healed = repair.Diff(r.repaired)
	}
}

// Repairs are the maps as they could be, by what the steps of the run were mended with.
func (r RunResult) Repairs() []repair.Repaired {
	var all []repair.Applied
	for _, c := range r.Cases {
		for _, s := range c.Steps {
			all = append(all, s.repaired...)
		}
	}
	return repair.Maps(all)
}

// UpdateLocks writes what the steps of the run found into the lock files beside their
// maps. It returns the files that changed.
func (r RunResult) UpdateLocks(files repair.Files) ([]string, error) {
	var seen []checks.Remembered
	for _, c := range r.Cases {
		for _, s := range c.Steps {
			seen = append(seen, s.remembered...)
		}
	}
	return repair.UpdateLocks(seen, files, r.warn)
}
