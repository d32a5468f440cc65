package siteaction

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/descriptor"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/runtime/observe"
	"github.com/outrider-run/outrider/runtime/verify"
	"github.com/outrider-run/outrider/sites"
)

// maxAppearanceWait is how long an element that is to be remembered may take to be there.
const maxAppearanceWait = 2 * time.Second

// watching runs the primitives of a workflow and looks at the elements that their
// locators name: it remembers them, and goes on with another for one that is not found.
type watching struct {
	invoker
	a           *Actions
	appearances *appearances
	match       *sites.Match
	// arguments are those of the call.
	arguments json.RawMessage

	steps map[string]*watchedStep
	step  string // the one that runs
}

// Primitives with rules of their own when their element is lost: one only finds where to click, and one
// asserts.
const (
	pointsAt = "locator.element_info"
	waits    = "locator.wait_for"
)

type watchedStep struct {
	primitive string
	mayFail   bool
	named     []verify.Written
	// with replaces one of them that was not found.
	with *verify.Repair
	at   verify.Written
}

// watch returns nil when nobody wants to know, so that a plain call parses no workflow.
func (a *Actions) watch(v invoker, match *sites.Match, arguments json.RawMessage) *watching {
	l := newAppearances(v.Message().Appearance)
	if !l.wanted && len(l.locks) == 0 {
		return nil
	}
	var w struct {
		Steps []struct {
			ID        string          `json:"id"`
			Primitive string          `json:"primitive"`
			Args      json.RawMessage `json:"args"`
			OnError   string          `json:"on_error"`
		} `json:"steps"`
	}
	if json.Unmarshal(match.Tool.Workflow, &w) != nil {
		return nil
	}
	out := &watching{
		invoker:     v,
		a:           a,
		appearances: &l,
		match:       match,
		arguments:   arguments,
		steps:       map[string]*watchedStep{},
	}
	for i, s := range w.Steps {
		pointer := match.Tool.At.Pointer + "/workflow/steps/" + strconv.Itoa(i) + "/args"
		out.steps[s.ID] = &watchedStep{
			primitive: s.Primitive,
			mayFail:   s.OnError == "continue",
			named:     verify.WrittenIn(s.Args, pointer),
		}
	}
	return out
}

// Invoke implements workflow.Invoker.
func (w *watching) Invoke(ctx context.Context, name string, args json.RawMessage) primitives.Result {
	s := w.steps[w.step]
	if s == nil || s.primitive != name || len(s.named) == 0 {
		return w.invoker.Invoke(ctx, name, args)
	}
	if s.with != nil {
		if with, ok := s.at.In(args, s.with.Target); ok {
			return w.invoker.Invoke(ctx, name, with)
		}
	}
	var unseen []verify.Written
	if w.appearances.wanted {
		// What a click leads to may not have the element any more.
		record, known := w.a.Registry.Lookup(name)
		unseen = w.remember(ctx, s.named, known && record.Acts)
	}
	result := w.invoker.Invoke(ctx, name, args)
	if result.Err == nil {
		w.remember(ctx, unseen, false)
		return result
	}
	lost := result.Err.Code == fault.TargetNotFound || result.Err.Code == fault.Timeout
	if !lost || s.mayFail || len(w.appearances.locks) == 0 || ctx.Err() != nil {
		return result
	}
	return w.instead(ctx, s, args, result)
}

// remember describes the elements of locators and returns those that are not there.
func (w *watching) remember(ctx context.Context, named []verify.Written, waits bool) (unseen []verify.Written) {
	for _, one := range named {
		d := verify.DescriptorOf(one.Target, "", nil)
		whole, end := observe.Answerable(ctx)
		bounded, cancel := context.WithTimeout(whole, maxAppearanceWait)
		if !waits {
			cancel()
		}
		found, err := observe.Until(whole, bounded, w.a, func(ctx context.Context, page primitives.Page) (bool, error) {
			m, err := descriptor.Resolve(ctx, page, d)
			if err != nil || !m.Found {
				return false, err
			}
			w.appearances.remember(ctx, page, w.match.Map, one.Target, m)
			return true, nil
		})
		cancel()
		end()
		if !found || err != nil {
			unseen = append(unseen, one)
		}
	}
	return unseen
}

// instead runs a primitive with the locator that is proposed for one that finds nothing.
// It had done nothing: it did not have its element.
func (w *watching) instead(
	ctx context.Context, s *watchedStep, args json.RawMessage, failed primitives.Result,
) primitives.Result {
	if s.primitive == waits { // what it waits for is an assertion
		return failed
	}
	record, known := w.a.Registry.Lookup(s.primitive)
	acts := known && record.Acts && s.primitive != pointsAt
	whole, end := observe.Answerable(ctx)
	defer end()
	for _, one := range s.named {
		page, err := w.a.LivePage(whole)
		if err != nil {
			return failed
		}
		m, err := descriptor.Resolve(whole, page, verify.DescriptorOf(one.Target, "", nil))
		if err != nil || m.Found {
			continue
		}
		if !acts && (verify.IsThere(m) || !verify.Keeps(one.Target)) {
			continue
		}
		upstream, reads := w.a.Quirks.Has(quirks.KnownMembersOnly), !acts && s.primitive != pointsAt
		r, err := verify.RepairWritten(whole, page, w.match.Map, one, w.appearances.locks, w.arguments, upstream, reads)
		if err != nil || r == nil {
			continue
		}
		with, ok := one.In(args, r.Target)
		if !ok {
			continue
		}
		result := w.invoker.Invoke(ctx, s.primitive, with)
		if result.Err == nil {
			s.with, s.at = r, one
			w.appearances.goOn(r, w.step, fault.New(
				fault.WorkflowStepFailed, "step %s (%s) failed: %s", w.step, s.primitive, failed.Err.Message,
			).Field("step_id", w.step).Field("primitive", s.primitive).Field("cause", failed.Err))
			return result
		}
	}
	return failed
}
