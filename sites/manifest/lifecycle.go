package manifest

import (
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
)

// The reference shows one word for each part of a lifecycle and lists no others.
// These are the words that are honoured; the first one of each is what an unknown
// or absent one means.
var (
	installWords  = []string{"when_target_matches", "always", "manual", "never"}
	removeWords   = []string{"when_context_mismatch", "when_target_missing", "never", "manual"}
	reattachWords = []string{
		"on_url_or_dom_change", "always", "on_url_change", "on_dom_change", "never", "none", "manual",
	}
	driftWords = []string{"use_fallback", "keep", "report", "emit_signal", "hide", "remove"}
)

// Lifecycle says when an attachment comes and goes. Its words are as declared:
// the methods say what they mean.
type Lifecycle struct {
	Install, Remove, Reattach, Drift string
	Extensions                       Extensions
}

// Removal says what takes an attachment away.
type Removal string

// What takes an attachment away: its target, the address or its state does not
// match; its target does not; nothing but the end of its document.
const (
	RemovedWithContext Removal = "context"
	RemovedWithTarget  Removal = "target"
	NeverRemoved       Removal = "never"
)

// Return says what brings an attachment back that was taken away.
type Return string

// What brings an attachment back: any change, another address, a change of the
// document, nothing.
const (
	ReturnsAlways  Return = "always"
	ReturnsWithURL Return = "url"
	ReturnsWithDOM Return = "dom"
	NeverReturns   Return = "never"
)

// Installs reports whether the attachment is put on the page without a request
// for.
func (l Lifecycle) Installs() bool { return l.Install != "manual" && l.Install != "never" }

// Removal is what takes it away.
func (l Lifecycle) Removal() Removal {
	switch l.Remove {
	case "never", "manual":
		return NeverRemoved
	case "when_target_missing":
		return RemovedWithTarget
	}
	return RemovedWithContext
}

// Return is what brings it back.
func (l Lifecycle) Return() Return {
	switch l.Reattach {
	case "on_url_change":
		return ReturnsWithURL
	case "on_dom_change":
		return ReturnsWithDOM
	case "never", "none", "manual":
		return NeverReturns
	}
	return ReturnsAlways
}

// HidesDrifted reports whether it is not shown where only a fallback selector
// matches. Real maps join words: emit_signal_and_hide_affordance.
func (l Lifecycle) HidesDrifted() bool {
	return strings.Contains(l.Drift, "hide") || strings.Contains(l.Drift, "remove")
}

func (c *checker) lifecycle(o *object) Lifecycle {
	word := func(name string, known []string, joined bool) string {
		return read(o, name, func(v value) string {
			s := v.string()
			fits := slices.Contains(known, s)
			if joined {
				fits = slices.ContainsFunc(known, func(k string) bool { return strings.Contains(s, k) })
			}
			if v.n.kind == kindString && !fits {
				if near := fault.Nearest(s, known); near != "" {
					v.warn(
						fault.InvalidValue, "%s is no policy that is known here, which means %s; did you mean %s?",
						quote(s), known[0], near,
					)
				} else {
					v.warn(fault.InvalidValue, "%s is no policy that is known here, which means %s", quote(s), known[0])
				}
			}
			return s
		})
	}
	return Lifecycle{
		Install: word("install", installWords, false), Remove: word("remove", removeWords, false),
		Reattach: word("reattach", reattachWords, false), Drift: word("drift", driftWords, true), Extensions: o.done(),
	}
}
