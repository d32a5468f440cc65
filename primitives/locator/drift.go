package locator

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
)

// driftTime bounds how long an answer waits to learn by what its locators are found.
const driftTime = 500 * time.Millisecond

// placesOfLocators are the arguments of primitives that are, or hold, a locator.
var placesOfLocators = []string{"locator", "target", "from", "to", "scope"}

// MayDrift reports whether one of the locators of arguments has fallbacks that are read.
func MayDrift(p primitives.Page, args json.RawMessage) bool {
	return bytes.Contains(args, []byte(`"fallback"`)) && !primitives.QuirksOf(p).Has(quirks.KnownMembersOnly)
}

// Drifted are the locators of arguments that only a fallback finds. It looks at the page and does not
// wait. What cannot be learnt is left out.
func Drifted(ctx context.Context, p primitives.Page, args json.RawMessage) []primitives.Drift {
	var members map[string]json.RawMessage
	if json.Unmarshal(args, &members) != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, driftTime)
	defer cancel()
	var out []primitives.Drift
	for _, place := range placesOfLocators {
		raw := innermostLocator(members[place])
		if !bytes.Contains(raw, []byte(`"fallback"`)) {
			continue
		}
		var l Locator
		var by *struct {
			Selector  string `json:"selector"`
			Candidate string `json:"candidate"`
		}
		if json.Unmarshal(raw, &l) != nil || l.Evaluate(ctx, p, "fallback_of", nil, &by) != nil || by == nil {
			continue
		}
		preferred := withoutFallbacks(raw)
		message := preferred + " matches nothing; " + by.Selector + " does (" + by.Candidate + ")"
		out = append(out, primitives.Drift{
			Preferred: preferred,
			Matched:   by.Selector,
			Candidate: by.Candidate,
			Message:   message,
		})
	}
	return out
}

// innermostLocator is the locator of a target that holds one: {"locator": {...}}.
func innermostLocator(raw json.RawMessage) json.RawMessage {
	var holder struct {
		Locator json.RawMessage `json:"locator"`
	}
	if json.Unmarshal(raw, &holder) == nil && len(holder.Locator) > 0 {
		return holder.Locator
	}
	return raw
}

// withoutFallbacks is a locator as text, short enough for a sentence.
func withoutFallbacks(raw json.RawMessage) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return ""
	}
	delete(members, "fallback")
	text, err := json.Marshal(members)
	if err != nil {
		return ""
	}
	return fault.Clip(string(text), 200)
}
