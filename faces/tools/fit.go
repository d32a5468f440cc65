package tools

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
)

const (
	defaultTokens = 4000
	// leastTokens is the share of the budget that is used where there is more to show.
	leastTokens = 0.97
	// fitTries bounds how often a page is read until its text fits.
	fitTries = 5
)

// fit reads with a limit of bytes, until what is read takes the tokens that the caller
// has: at most all of them, and nearly all where something is left out.
func fit(ctx context.Context, most int, read func(maxBytes int) (*Answer, bool, *fault.Error)) (*Answer, *fault.Error) {
	if most == 0 {
		most = defaultTokens
	}
	low, high := 0, 0 // bytes that were too few, and too many
	bytes := max(int(3.6*float64(most)), 200)
	var best *Answer
	for range fitTries {
		out, cut, err := read(bytes)
		if err != nil {
			return nil, err
		}
		n := out.tokens()
		if n <= most {
			best = out
			if !cut || float64(n) >= leastTokens*float64(most) || ctx.Err() != nil {
				return best, nil
			}
			low = bytes
		} else {
			high = bytes
		}
		next := int(float64(bytes) * 0.985 * float64(most) / float64(n))
		if high > 0 && (next >= high || next <= low) {
			next = (low + high) / 2
		}
		if high > 0 && best == nil && next <= 200 {
			next = 200
		}
		if next == bytes || next < 200 || next > mostBytes {
			break
		}
		bytes = next
	}
	if best == nil { // nothing was small enough: the least that the page gives
		best, _, err := read(200)
		return best, err
	}
	return best, nil
}

// tokens estimates the tokens of an answer: of the larger of its two forms.
func (a *Answer) tokens() int {
	encoded, err := json.Marshal(a.Result)
	if err != nil {
		return 0
	}
	return max(EstimateTokens(string(encoded)), EstimateTokens(a.Text))
}
