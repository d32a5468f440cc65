package siteaction

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/internal/element/lock"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/descriptor"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/checks"
	"github.com/outrider-run/outrider/runtime/verify"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// appearances collects the descriptions of the elements of steps that a caller asked for. It
// never fails an action: what cannot be described is left out.
type appearances struct {
	wanted     bool
	locks      map[string]*lock.File // by the path of their map
	remembered []checks.Remembered
	repairs    []wentOn
}

// wentOn is a target that an action went on with, and what it had failed with.
type wentOn struct {
	verify.Repair
	Step  string       `json:"step_id"`
	Cause *fault.Error `json:"cause"`
}

func newAppearances(a *call.Appearance) appearances {
	if a == nil {
		return appearances{}
	}
	l := appearances{wanted: a.Remember}
	if len(a.Locks) > 0 && json.Unmarshal(a.Locks, &l.locks) != nil {
		l.locks = nil
	}
	return l
}

// remember describes the element of a target that has one alone.
func (l *appearances) remember(
	ctx context.Context, page primitives.Page, in *sites.Map, t *manifest.Target, m descriptor.Match,
) {
	if !l.wanted || !verify.WorthRemembering(m) {
		return
	}
	if seen, err := verify.RememberTarget(ctx, page, in, t, m.Handle); err == nil && seen != nil {
		l.remembered = append(l.remembered, *seen)
	}
}

// goOn notes a target with which an action goes on.
func (l *appearances) goOn(r *verify.Repair, step string, cause *fault.Error) {
	l.repairs = append(l.repairs, wentOn{*r, step, cause})
}

// note puts what was found into the reply.
func (l *appearances) note(reply *call.Reply) {
	if len(l.remembered) > 0 {
		reply.Remembered = call.JSON(l.remembered)
	}
	if len(l.repairs) > 0 {
		reply.Repairs = call.JSON(l.repairs)
	}
}
