package tools

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

const (
	// mostSlides bounds the keys that move a slider, and slidesAtOnce those of one call.
	mostSlides   = 1000
	slidesAtOnce = 100
	// slideTries is how often what is left is moved: some sliders have steps that differ.
	slideTries = 4
)

// slide sets a slider that a page draws, which takes no text, to a number: with its keys, as a person does. args are
// those of the fill that failed, which is what it answers of any other control.
func (c *Call) slide(
	ctx context.Context, p page, in actIn, args map[string]any, failed *fault.Error,
) (json.RawMessage, runtime.Reply, *fault.Error) {
	text, _ := args["text"].(string)
	want, e := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, "%")), 64)
	if failed.Code != fault.TargetNotEditable || failed.Evidence["reason"] != "not_editable" || e != nil {
		return nil, runtime.Reply{}, failed
	}
	target := args["locator"]
	if ref, ok := args["ref"]; ok {
		target = map[string]any{"ref": ref}
	}
	s := &slider{call: c, page: p, in: in, target: target}
	now, least, most, err := s.look(ctx)
	if err != nil {
		return nil, runtime.Reply{}, failed
	}
	if want < least || want > most {
		return nil, runtime.Reply{}, fault.New(fault.TargetNotEditable, "the slider goes from %g to %g", least, most).
			With("reason", "out_of_range").With("least", least).With("most", most)
	}
	for range slideTries {
		if same(now, want) {
			break
		}
		was := now
		now, err = s.move(ctx, now, want)
		if err != nil {
			return nil, s.last, err
		}
		if now == was {
			break
		}
	}
	if !same(now, want) {
		return nil, s.last, fault.New(fault.TargetNotEditable, "the slider has no step at this number").
			With("reason", "not_kept").With("input_sent", true).With("holds", now)
	}
	return s.value, s.last, nil
}

// same reports whether two numbers differ by no more than what adding up steps does.
func same(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// slider moves one slider by keys.
type slider struct {
	call   *Call
	page   page
	in     actIn
	target any

	value json.RawMessage // of the last key
	last  runtime.Reply
}

// look is what the slider holds and between what it lies.
func (s *slider) look(ctx context.Context) (now, least, most float64, err *fault.Error) {
	value, r, err := s.call.do(ctx, s.page, "locator.read", map[string]any{
		"locator": s.target, "limit": 1, "attributes": []string{"aria-valuenow", "aria-valuemin", "aria-valuemax"},
	}, s.in.where)
	if err != nil {
		return 0, 0, 0, err
	}
	var read struct {
		Elements []struct {
			Role       string            `json:"role"`
			Attributes map[string]string `json:"attributes"`
		} `json:"elements"`
	}
	no := fault.New(fault.TargetNotEditable, "the element is no slider that tells its number")
	if json.Unmarshal(value, &read) != nil || len(read.Elements) != 1 || read.Elements[0].Role != "slider" {
		return 0, 0, 0, no
	}
	number := func(name string, missing float64) float64 {
		n, e := strconv.ParseFloat(read.Elements[0].Attributes[name], 64)
		if e != nil {
			return missing
		}
		return n
	}
	now = number("aria-valuenow", math.NaN())
	if math.IsNaN(now) {
		return 0, 0, 0, no
	}
	if s.value == nil { // the answer where no key is needed
		s.value, s.last = json.RawMessage("{}"), r
	}
	return now, number("aria-valuemin", 0), number("aria-valuemax", 100), nil
}

// move presses one key, sees how far it goes, and presses as often as is left.
func (s *slider) move(ctx context.Context, now, want float64) (float64, *fault.Error) {
	key := "ArrowRight"
	if want < now {
		key = "ArrowLeft"
	}
	after, err := s.press(ctx, key, 1)
	if err != nil || after == now {
		return after, err
	}
	step := after - now
	if (want-now)*step < 0 { // it runs from right to left
		key = map[string]string{"ArrowRight": "ArrowLeft", "ArrowLeft": "ArrowRight"}[key]
		step = -step
	}
	left := math.Round((want - after) / step)
	if left > mostSlides {
		return after, fault.New(fault.TargetNotEditable, "the slider is %g steps away from this number", left).
			With("reason", "too_far").With("input_sent", true).With("holds", after)
	}
	for left > 0 {
		n := math.Min(left, slidesAtOnce)
		after, err = s.press(ctx, key, int(n))
		if err != nil {
			return after, err
		}
		left -= n
	}
	return after, nil
}

// press presses a key on the slider and looks what it holds then.
func (s *slider) press(ctx context.Context, key string, times int) (float64, *fault.Error) {
	args := map[string]any{"key": key, "trusted": true, "effects": actEffects}
	if times > 1 {
		args["repeat"] = times
	}
	at := map[string]any{"locator": s.target}
	if _, _, err := s.call.do(ctx, s.page, "dom.focus", at, s.in.where); err != nil {
		return 0, err
	}
	var err *fault.Error
	s.value, s.last, err = s.call.do(ctx, s.page, "keyboard.press", args, s.in.where)
	if err != nil {
		return 0, err
	}
	now, _, _, err := s.look(ctx)
	return now, err
}
