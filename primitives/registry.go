package primitives

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives/arguments"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/primitives/schema"
	"github.com/outrider-run/outrider/primitives/upstream"
)

// Registry runs primitives by name. It is safe for concurrent use once built.
type Registry struct {
	// Log receives failures that are the host's own: an undeclared code, a panic, an output
	// that breaks its schema. Nil discards. Set it before the first Invoke.
	Log *slog.Logger

	byName map[string]*Primitive
	names  []string
}

// NewRegistry makes a registry of list. It panics when a name occurs twice.
func NewRegistry(list ...*Primitive) *Registry {
	r := &Registry{byName: make(map[string]*Primitive, len(list))}
	for _, p := range list {
		name := p.name
		if _, ok := r.byName[name]; ok {
			panic("primitive " + name + " is listed twice")
		}
		r.byName[name] = p
		r.names = append(r.names, name)
	}
	slices.Sort(r.names)
	return r
}

// Names returns the names of all primitives, sorted.
func (r *Registry) Names() []string { return slices.Clone(r.names) }

// Lookup returns the record of the named primitive, which is shared: do not
// change it.
func (r *Registry) Lookup(name string) (*Record, bool) {
	p, ok := r.byName[name]
	if !ok {
		return nil, false
	}
	return p.record(), true
}

// Records returns all records, sorted by name.
func (r *Registry) Records() []*Record {
	out := make([]*Record, len(r.names))
	for i, n := range r.names {
		out[i] = r.byName[n].record()
	}
	return out
}

// maxReread bounds how often a read is repeated because the document was
// replaced under it.
const maxReread = 3

// Invoke runs the named primitive on p and always returns its result. It is
// the only place that checks arguments, codes and outputs.
//
// args is a JSON object; nil and null are the empty one. Routing members are
// dropped and camelCase aliases of declared names accepted. A read whose
// document is replaced meanwhile is repeated in the new one; what acts is not.
func (r *Registry) Invoke(ctx context.Context, p Page, name string, args json.RawMessage) (res Result) {
	start := time.Now()
	set := QuirksOf(p)
	held := HeldToUpstream(ctx, set)
	if set.Has(quirks.UpstreamVocabulary) && !held {
		p = WithoutQuirks(p, quirks.UpstreamVocabulary, quirks.KnownMembersOnly)
		set = QuirksOf(p)
	}
	res.Primitive, res.Adapter = name, adapterOf(set)
	prim, ok := r.byName[name]
	if held && !upstream.Has(name) {
		res.Err = UnknownUpstream(name)
		return res
	}
	if !ok {
		res.Err = fault.New(fault.UnknownAction, "no primitive has this name").With("name", name)
		return res
	}
	res.Flat = prim.record().Result == "flat"
	defer func() {
		if set.Has(quirks.UpstreamAnswers) {
			res.Err = thrown(name, args, res.Err)
		}
	}()
	defer func() {
		if v := recover(); v != nil {
			r.log().Error(
				"primitive panicked", "primitive", name, "panic", fmt.Sprint(v), "stack", string(debug.Stack()),
			)
			res.Payload = nil
			res.Err = &fault.Error{
				Code:    fault.Internal,
				Message: "the handler failed unexpectedly",
				Err:     fmt.Errorf("panic: %v", v),
			}
		}
		res.Duration = time.Since(start)
	}()
	checks, err := prim.checks()
	if err != nil {
		r.log().Error("record does not compile", "primitive", name, "error", err)
		res.Err = &fault.Error{Code: fault.Internal, Message: "the record does not compile", Err: err}
		return res
	}
	if set.Has(quirks.LenientArguments) {
		args = arguments.Coerce(prim.record().InputSchema, checks.fields, args)
	}
	if held {
		args = arguments.Only(args, func(argument string) bool { return upstream.Reads(name, argument) })
	}
	args, times, problem := checks.prepare(args, set.Has(quirks.LenientArguments))
	if problem != nil {
		res.Err = problem
		return res
	}
	if times.window > 0 {
		times = times.beforeNext(ctx)
		watch := watchEffects(ctx, p, findsFirst(args))
		reported, end := toTheEnd(ctx)
		defer func() {
			defer end()
			res.Effects = watch.report(reported, times.within(args, start), res.Err)
		}()
		if watch.silent > 0 {
			ctx = withSpent(ctx, watch.silent)
		}
		ctx = watch.guard(ctx)
	} else if prim.record().Acts {
		watchingIn(ctx).close(ctx, p)
	}
	out, err := prim.run(ctx, p, args)
	for n := 0; n < maxReread && !prim.record().Acts && errors.Is(err, fault.PageNavigated) && ctx.Err() == nil; n++ {
		out, err = prim.run(ctx, p, args)
	}
	if err != nil {
		res.Err = r.checkedFault(prim.record(), err)
		var f *failed
		if !res.Flat || !errors.As(err, &f) {
			return res
		}
	}
	payload, err := encode(out)
	if err == nil {
		if problems := checks.out.Validate(payload); len(problems) > 0 {
			err = fmt.Errorf("%s", problems[0])
		}
	}
	if err != nil {
		r.log().Error("output breaks its schema", "primitive", name, "error", err)
		res.Err = &fault.Error{
			Code:    fault.InvalidResult,
			Message: "the output does not match the output schema",
			Err:     err,
		}
		return res
	}
	res.Payload = payload
	if name == "browser.screenshot" && set.Has(quirks.UpstreamAnswers) {
		res.Transport = "background_capture"
	}
	if f, ok := out.(FlatUpstream); ok && f.FlatUpstream() && res.Err == nil && set.Has(quirks.UpstreamAnswers) {
		res.Flat = true
	}
	return res
}

// thrown is a failure as the extension reports it where its primitive throws: the
// code of the handler in place of a code of its own. What ended the call from
// outside keeps its code.
func thrown(name string, args json.RawMessage, e *fault.Error) *fault.Error {
	if e == nil || fault.Universal(e.Code) && e.Code != fault.InvalidInput && e.Code != fault.PermissionDenied {
		return e
	}
	code := e.Code
	switch {
	case upstream.InBackground(name, args):
		code = fault.BackgroundActionFailed
	case upstream.Throws(name):
		code = fault.HandlerFailed
	default:
		return e
	}
	out := *e
	out.Code, out.Evidence = code, maps.Clone(e.Evidence)
	return out.With("cause_code", e.Code)
}

// encode returns an output as JSON. What the page library answered is passed on
// as it is: the check against the schema that follows refuses what is not JSON.
func encode(out any) (json.RawMessage, error) {
	if raw, ok := out.(json.RawMessage); ok && len(raw) > 0 {
		return raw, nil
	}
	return json.Marshal(out)
}

// checkedFault lets only announced codes pass.
func (r *Registry) checkedFault(rec *Record, err error) *fault.Error {
	e := fault.From(err)
	if e.Code == fault.Internal {
		r.log().Error("primitive failed", "primitive", rec.Name, "error", err)
		return e
	}
	if fault.Universal(e.Code) || slices.Contains(rec.Errors, string(e.Code)) {
		return e
	}
	r.log().Error(
		"primitive returned a code its record does not list",
		"primitive", rec.Name,
		"code", string(e.Code),
		"error", err,
	)
	return &fault.Error{
		Code:    fault.Internal,
		Message: "the primitive failed with a code it does not announce",
		Err:     err,
	}
}

func (r *Registry) log() *slog.Logger {
	if r.Log == nil {
		return discard
	}
	return r.Log
}

var discard = slog.New(slog.DiscardHandler)

// prepare normalises and checks arguments.
//
// times are the times of the argument effects, which every acting primitive
// takes and no handler sees: 0 for no report.
func (c *checks) prepare(args json.RawMessage, lenient bool) (_ json.RawMessage, times effectsTimes, _ *fault.Error) {
	args = bytes.TrimSpace(args)
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	in := c.in
	if lenient {
		in = c.loose
	}
	shape, met := c.plain.Met(args)
	if met {
		return args, effectsTimes{}, nil
	}
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, effectsTimes{}, c.invalidInput([]schema.Problem{
			{Keyword: "json", Message: "the arguments are not JSON"},
		})
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, effectsTimes{}, c.invalidInput([]schema.Problem{
			{Keyword: "json", Message: "there is text after the arguments"},
		})
	}
	changed := c.fields.DropRouting(v)
	v, renamed := c.fields.Normalise(v)
	if problems := in.ValidateValue(v); len(problems) > 0 {
		return nil, effectsTimes{}, c.invalidInput(problems)
	}
	if m, ok := v.(map[string]any); ok && c.effects {
		if e, there := m["effects"]; there {
			times = effectsWanted(e)
			delete(m, "effects")
			changed = true
		}
	}
	if changed || renamed {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, effectsTimes{}, fault.Translate(fault.Internal, err, "encoding the arguments")
		}
		args = b
	} else if in == c.in {
		c.plain.Add(shape)
	}
	return args, times, nil
}

// invalidInput reports problems in the form of the bridge's own check. Of a
// member that is not declared it says which one was likely meant.
func (c *checks) invalidInput(problems []schema.Problem) *fault.Error {
	type entry struct {
		Path    string `json:"path"`
		Keyword string `json:"keyword"`
		Message string `json:"message"`
		Nearest string `json:"nearest,omitempty"`
	}
	const shown = 10
	entries := make([]entry, 0, len(problems))
	texts := make([]string, 0, len(problems))
	for _, p := range problems[:min(shown, len(problems))] {
		near := c.fields.Nearest(p)
		if near != "" {
			p.Message += "; did you mean " + strconv.Quote(near) + "?"
		}
		entries = append(entries, entry{p.Path, p.Keyword, p.Message, near})
		texts = append(texts, p.String())
	}
	missing := schema.Missing(problems)
	if missing == nil {
		missing = []string{}
	}
	return fault.New(fault.InvalidInput, "%s", strings.Join(texts, "; ")).
		With("validation_errors", entries).With("missing_required", missing)
}

// CheckArguments reports what is wrong with the arguments of the named primitive,
// as far as that can be known without calling it. open reports which strings stand
// for a value that is not known yet; such a value may also come out absent.
// Nothing is wrong with the arguments of a primitive that is not in r.
func (r *Registry) CheckArguments(name string, args json.RawMessage, open func(text string) bool) []ArgumentProblem {
	prim, ok := r.byName[name]
	if !ok {
		return nil
	}
	c, err := prim.checks()
	if err != nil {
		return nil // Invoke says so
	}
	return arguments.CheckWritten(name, c.in, c.fields, args, open)
}

// ArgumentProblem is one fault of arguments that are written down before they are used.
type ArgumentProblem = arguments.Problem
