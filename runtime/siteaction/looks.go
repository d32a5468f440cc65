package siteaction

import (
	"encoding/json"

	"github.com/outrider-run/outrider/authoring/lock"
	"github.com/outrider-run/outrider/primitives/descriptor"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/verify"
	"github.com/outrider-run/outrider/sites/manifest"
)

// looks is what a caller wants to know of the elements of steps, and what was found. It
// never fails an action: what cannot be described is left out.
type looks struct {
	wanted     bool
	locks      map[string]*lock.File // by the path of their map
	remembered []verify.Remembered
	repairs    []verify.Repair
}

func looksFor(a *call.Appearance) looks {
	if a == nil {
		return looks{}
	}
	l := looks{wanted: a.Remember}
	if len(a.Locks) > 0 && json.Unmarshal(a.Locks, &l.locks) != nil {
		l.locks = nil
	}
	return l
}

// remember describes the element of a target that has one alone.
func (l *looks) remember(r *executionRun, t *manifest.Target, m descriptor.Match) {
	if !l.wanted || m.Count != 1 || m.Handle == "" || len(m.Relaxed) > 0 {
		return
	}
	page, err := r.a.LivePage(r.bound)
	if err != nil {
		return
	}
	if seen, err := verify.RememberTarget(r.bound, page, r.match.Map, t, m.Handle); err == nil && seen != nil {
		l.remembered = append(l.remembered, *seen)
	}
}

// repair proposes another target for one that finds nothing.
func (l *looks) repair(r *executionRun, t *manifest.Target) {
	if len(l.locks) == 0 {
		return
	}
	page, err := r.a.LivePage(r.whole)
	if err != nil {
		return
	}
	if found, err := verify.RepairTarget(r.whole, page, r.match.Map, t, l.locks); err == nil && found != nil {
		l.repairs = append(l.repairs, *found)
	}
}

// note puts what was found into the reply.
func (l *looks) note(reply *call.Reply) {
	if len(l.remembered) > 0 {
		reply.Remembered = call.JSON(l.remembered)
	}
	if len(l.repairs) > 0 {
		reply.Repairs = call.JSON(l.repairs)
	}
}
