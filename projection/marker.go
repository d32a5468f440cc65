package projection

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
)

// Marker is a place of the page that is found anew at every use: it keeps a
// recipe, never a position.
type Marker struct {
	ID     string `json:"id"`
	Type   string `json:"type"` // "cursor" or "pointer"
	Recipe []Step `json:"recipe"`
	Anchor *Point `json:"anchor,omitempty"`
}

// Step is one primitive of a recipe.
type Step struct {
	Primitive string          `json:"primitive"`
	Args      json.RawMessage `json:"args,omitempty"`
}

// Point is a position in the viewport of the tab, in CSS pixels.
type Point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// Invoker runs primitives. Package runtime has it.
type Invoker interface {
	Invoke(ctx context.Context, name string, args json.RawMessage) primitives.Result
}

// recipePrimitives are the primitives a recipe may use.
var recipePrimitives = []string{
	"keyboard.press", "pointer.click", "pointer.move", "pointer.double_click", "locator.element_info",
	"locator.wait_for", "text.insert", "text.type", "viewport.scroll",
}

// markerSource is where markers come from: a list in the declaration, or an
// expression.
type markerSource struct {
	declared bool
	static   json.RawMessage
	program  expr.Program
}

func (c compiler) markers(v *value) markerSource {
	if !v.given() {
		return markerSource{}
	}
	switch v.kind {
	case kindArray:
		if _, at, message := parseMarkers(v); message != "" {
			c.fail.add("/markers"+at, fault.InvalidStateMarkers, "%s", message)
		}
		return markerSource{declared: true, static: v.append(nil)}
	case kindString:
		return markerSource{declared: true, program: c.expression(
			c.text(&value{kind: kindObject, names: []string{"markers"}, items: []*value{v}}, "", "markers", true),
			"/markers",
		)}
	}
	c.fail.add("/markers", fault.InvalidStateMarkers, "must be an array or an expression")
	return markerSource{}
}

// mark computes the markers of a snapshot.
func (p *Projection) mark(ctx context.Context, s *Snapshot) (json.RawMessage, *fault.Error) {
	if p.markers.program == nil {
		return p.markers.static, nil
	}
	out, err := evaluate(ctx, p.markers.program, expr.Input{
		{Name: "records", JSON: s.Records},
		{Name: "state", JSON: s.State},
		{Name: "url", JSON: quoted(s.URL)},
		{Name: "projection", JSON: p.self()},
	}, s.limits.expression(MaxExpressionBytes), fault.StateMarkersFailed, "/markers")
	if err != nil {
		return nil, err
	}
	if _, err := ParseMarkers(out); err != nil {
		return nil, err
	}
	return out, nil
}

// ParseMarkers reads the markers of a snapshot. The error is
// invalid_state_markers with the pointer of the first problem.
func ParseMarkers(raw json.RawMessage) ([]Marker, *fault.Error) {
	v, err := parseValue(raw)
	if err != nil {
		return nil, fault.New(fault.InvalidStateMarkers, "the markers: %v", err)
	}
	markers, at, message := parseMarkers(v)
	if message != "" {
		return nil, fault.New(fault.InvalidStateMarkers, "the markers break a rule: %s", message).With("pointer", at)
	}
	return markers, nil
}

// parseMarkers returns the place and text of the first problem, or "".
func parseMarkers(v *value) (markers []Marker, at, message string) {
	if v.kind != kindArray {
		return nil, "", "markers must be an array"
	}
	seen := map[string]bool{}
	for i, item := range v.items {
		at := fmt.Sprintf("/%d", i)
		if item.kind != kindObject {
			return nil, at, "a marker must be an object"
		}
		id, kind := item.member("id"), item.member("type")
		switch {
		case id == nil || id.kind != kindString || id.text == "":
			return nil, at + "/id", "a marker needs an id"
		case seen[id.text]:
			return nil, at + "/id", "another marker has this id"
		case kind == nil || kind.kind != kindString || kind.text != "cursor" && kind.text != "pointer":
			return nil, at + "/type", "the type of a marker is cursor or pointer"
		}
		seen[id.text] = true
		m := Marker{ID: id.text, Type: kind.text, Anchor: anchor(item.member("anchor"))}
		recipe := item.member("recipe")
		if recipe == nil || recipe.kind != kindArray || len(recipe.items) == 0 {
			return nil, at + "/recipe", "a marker needs a recipe with at least one step"
		}
		for k, step := range recipe.items {
			at := fmt.Sprintf("%s/recipe/%d", at, k)
			if step.kind != kindObject {
				return nil, at, "a step must be an object"
			}
			name, args := step.member("primitive"), step.member("args")
			if name == nil || name.kind != kindString || !slices.Contains(recipePrimitives, name.text) {
				return nil, at + "/primitive", "a recipe may not use this primitive"
			}
			if args.given() && args.kind != kindObject {
				return nil, at + "/args", "the arguments of a step must be an object"
			}
			s := Step{Primitive: name.text}
			if args.given() {
				s.Args = args.append(nil)
			}
			m.Recipe = append(m.Recipe, s)
		}
		markers = append(markers, m)
	}
	return markers, "", ""
}

// anchor reads {x, y} when both are numbers.
func anchor(v *value) *Point {
	x, y := v.member("x"), v.member("y")
	if x == nil || y == nil || x.kind != kindNumber || y.kind != kindNumber {
		return nil
	}
	var p Point
	if json.Unmarshal([]byte(x.text), &p.X) != nil || json.Unmarshal([]byte(y.text), &p.Y) != nil {
		return nil
	}
	return &p
}

// ResolveRecipe runs a marker's recipe, clicks included, and returns where it
// led: the point of the last step that named one, else the anchor, else nil.
// It is for the caller to refuse nil for a pointer marker: see PromiseUnkept.
//
// Errors are invalid_recipe_step, marker_recipe_step_failed with the place of
// the step, its primitive and its error as cause, and those of ctx.
func ResolveRecipe(ctx context.Context, inv Invoker, m Marker) (*Point, *fault.Error) {
	at := m.Anchor
	for i, step := range m.Recipe {
		if !slices.Contains(recipePrimitives, step.Primitive) {
			return nil, fault.New(fault.InvalidRecipeStep, "a recipe may not use this primitive").
				Field("marker", m.ID).Field("step_index", i).Field("primitive", step.Primitive)
		}
		if err := ctx.Err(); err != nil {
			return nil, fault.Wrap(fault.Cancelled, err, "resolving a marker")
		}
		args := step.Args
		if len(args) == 0 {
			args = json.RawMessage("{}")
		}
		r := inv.Invoke(ctx, step.Primitive, args)
		cause, point := stepOutcome(r)
		if cause != nil {
			return nil, (&fault.Error{
				Code:    fault.MarkerRecipeStepFailed,
				Message: "a step of the recipe failed: " + cause.Message,
				Err:     cause,
			}).
				Field("marker", m.ID).Field("step_index", i).Field("primitive", step.Primitive).Field("cause", cause)
		}
		if point != nil {
			at = point
		}
	}
	return at, nil
}

// stepOutcome reads the error or the location that a step gave. A payload that
// reports its own failure is one.
func stepOutcome(r primitives.Result) (*fault.Error, *Point) {
	if r.Err != nil {
		return r.Err, nil
	}
	v, err := parseValue(r.Payload)
	if err != nil {
		return nil, nil
	}
	if ok := v.member("ok"); ok != nil && ok.kind == kindFalse {
		code, message := fault.HandlerFailed, "the primitive reported a failure"
		if e := v.member("error").member("code"); e != nil && e.kind == kindString {
			if _, known := fault.Lookup(fault.Code(e.text)); known {
				code = fault.Code(e.text)
			}
		}
		return fault.New(code, "%s", message), nil
	}
	if p := anchor(v.member("clickable_center")); p != nil {
		return nil, p
	}
	return nil, anchor(v)
}

// PromiseUnkept is the error of a pointer marker whose recipe led nowhere.
func PromiseUnkept(m Marker) *fault.Error {
	return fault.New(fault.MarkerPromiseUnkept, "the recipe of the marker ended without a location").
		Field("marker", m.ID).With("steps", len(m.Recipe))
}
