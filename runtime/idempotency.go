package runtime

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/internal/idempotency"
	"github.com/outrider-run/outrider/internal/jsonout"
	tabsession "github.com/outrider-run/outrider/primitives/session"

	"github.com/outrider-run/outrider/primitives/fault"
)

// receipt is what is kept of a call that carries an idempotency key.
type receipt struct {
	name   string
	began  time.Time
	ended  bool
	before tabsession.Seen
	after  tabsession.Seen
	took   time.Duration
	reply  Reply
	cut    bool // the output is not kept
	judged judgement
}

// Size implements idempotency.Value.
func (r receipt) Size() int {
	return len(r.reply.Output) + len(r.reply.Answer) + len(r.reply.Steps) + len(r.judged.effects)
}

// Cut implements idempotency.Value.
func (r receipt) Cut() receipt {
	r.cut = len(r.reply.Output)+len(r.reply.Answer) > 0
	r.reply.Output = nil
	r.reply.Answer = nil
	r.reply.Steps = nil
	r.judged.effects = nil
	return r
}

// answer is the reply to another call with the key.
func (r receipt) answer(key string) Reply {
	out := r.reply
	out.Repeated = true
	if out.Err != nil {
		out.Err = out.Err.Clone() // who gets it may add to it
	}
	if r.cut {
		out.Err = idempotency.Dropped(key).With("outcome", r.judged.outcome)
	}
	return out
}

// actsByKey reports whether a call carries a key and may act. A call that only reads is run each time.
func (h *Host) actsByKey(c *Call) bool {
	if c.IdempotencyKey == "" {
		return false
	}
	if record, ok := h.opts.Registry.Lookup(c.Name); ok && c.Map == nil {
		return record.Acts
	}
	if c.Name != SiteTool || c.Map != nil {
		return true
	}
	var in struct {
		Mode string `json:"mode"`
	}
	_ = json.Unmarshal(c.Arguments, &in) // what is wrong with them is said by the call
	return in.Mode != "list" && in.Mode != "check" && !strings.HasPrefix(in.Mode, "state_")
}

// digest tells calls apart that are not the same.
func digest(c *Call) uint64 {
	return idempotency.Digest(c.Name, c.Target.RuntimeID, c.Target.RuntimeKey, string(c.Arguments))
}

// receipts are those of the session that a call is of.
func (h *Host) receipts(workspace string) *idempotency.Store[receipt] {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.workspaces {
		if w.id == workspace {
			return &w.stores.Receipts
		}
	}
	return &h.stores.Receipts
}

// acceptByKey accepts a call that carries a key. The first one is run as any other; later ones get its answer.
func (h *Host) acceptByKey(call Call, done func(Reply)) (cancel context.CancelCauseFunc) {
	about := receipt{
		name:   call.Name,
		began:  time.Now(),
		before: h.shown(call.Target),
	}
	entry, known, found := h.receipts(call.Target.Workspace).Begin(call.IdempotencyKey, digest(&call), about)
	if found == idempotency.New {
		return h.enqueue(nil, call, done, func(r Reply) {
			about.reply = r
			if r.Err != nil {
				about.reply.Err = r.Err.Clone()
			}
			about.after = h.shown(Target{Workspace: call.Target.Workspace, RuntimeID: r.RuntimeID})
			about.ended = true
			about.took = time.Since(about.began)
			about.judged = judge(r)
			if !r.Started || didNothing(r.Err) {
				entry.Free(about)
			} else {
				entry.End(about)
			}
		})
	}
	j := h.newJob(call, nil, nil, done, nil)
	switch found {
	case idempotency.Running:
		entry.Wait(func(r receipt) { go j.finish(r.answer(call.IdempotencyKey)) })
	case idempotency.Ended:
		go j.finish(known.answer(call.IdempotencyKey))
	default:
		go j.finish(Reply{Err: idempotency.Reused(call.IdempotencyKey).With("earlier", known.name)})
	}
	return j.cancel
}

// didNothing reports whether a call was refused before it did anything, so that its key is free again.
func didNothing(err *fault.Error) bool {
	return err != nil && (err.Code == fault.InvalidInput || err.Code == fault.UnknownAction)
}

// shown is what the tab of a target shows, empty where there is not one.
func (h *Host) shown(on Target) tabsession.Seen {
	tab, err := h.pick(on)
	if err != nil {
		return tabsession.Seen{}
	}
	s := h.hideStatus(tab.Status())
	return tabsession.Seen{URL: s.URL, Title: s.Title}
}

// Outcome implements session.Outcomes.
func (s session) Outcome(key string) tabsession.Outcome {
	receipts := s.tab.stores().Receipts.Values(func(known string) bool {
		return idempotency.IsOf(known, key)
	})
	return outcomeOf(key, receipts)
}

// outcomeOf is what became of the calls with a key: the worst of what became of each.
func outcomeOf(key string, receipts []receipt) tabsession.Outcome {
	out := tabsession.Outcome{Key: key, Calls: []tabsession.KeyedCall{}}
	if len(receipts) == 0 {
		out.Outcome = unknown
		out.Reason = "no call with this key is known in this session; it may have been before this process started, " +
			"or more than an hour ago"
		return out
	}
	slices.SortFunc(receipts, func(a, b receipt) int { return cmp.Compare(a.began.UnixNano(), b.began.UnixNano()) })
	for _, r := range receipts {
		one := tabsession.KeyedCall{
			Name:      r.name,
			StartedAt: jsonout.Time(r.began),
			Before:    r.before,
			Outcome:   unknown,
			Reason:    "it has not ended",
		}
		if r.ended {
			one.DurationMS = r.took.Milliseconds()
			one.Outcome, one.Reason = r.judged.outcome, r.judged.reason
			one.Error = r.reply.Err
			one.Effects = r.judged.effects
			one.Steps = r.reply.Steps
			one.After = &r.after
		} else {
			one.DurationMS = time.Since(r.began).Milliseconds()
			out.Running = true
		}
		out.Calls = append(out.Calls, one)
		if worse(one.Outcome, out.Outcome) {
			out.Outcome, out.Reason = one.Outcome, one.Reason
		}
	}
	return out
}
