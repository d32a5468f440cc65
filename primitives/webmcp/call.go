package webmcp

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/pagetool"
	"github.com/outrider-run/outrider/primitives/schema"
)

const (
	// defaultTimeout is how long a tool may take.
	defaultTimeout = 10 * time.Second
	// maxOutput bounds what a tool gives, in bytes of JSON.
	maxOutput = 1 << 20
)

type callIn struct {
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Origin    string          `json:"origin"`
	FrameID   string          `json:"frame_id"`
	Hash      string          `json:"hash"`
	TimeoutMS *int            `json:"timeout_ms"`
}

type callOut struct {
	Name   string          `json:"name"`
	Origin string          `json:"origin"`
	Status string          `json:"status"`
	Output json.RawMessage `json:"output,omitempty"`
}

// call runs a tool of the page with an input that matches the schema that the page declares.
var call = primitives.Define("webmcp.call", func(
	ctx context.Context, p primitives.Page, in callIn,
) (callOut, error) {
	t, err := in.find(ctx, p)
	if err != nil {
		return callOut{}, err
	}
	if len(in.Input) == 0 {
		in.Input = json.RawMessage("{}")
	}
	if err := matches(t, in.Input); err != nil {
		return callOut{}, err
	}
	timeout := defaultTimeout
	if in.TimeoutMS != nil {
		timeout = time.Duration(*in.TimeoutMS) * time.Millisecond
	}
	bounded, cancel := context.WithTimeoutCause(ctx, timeout, fault.New(
		fault.Timeout, "the tool has not answered within its time; it was cancelled",
	).With("timeout_ms", timeout.Milliseconds()).With("tool", t.Name))
	defer cancel()
	primitives.BeforeInput(ctx)
	r, err := p.InvokePageTool(bounded, t.Tool, in.Input)
	if err != nil {
		return callOut{}, err
	}
	out := callOut{Name: t.Name, Origin: t.origin, Status: r.Status, Output: r.Output}
	switch {
	case r.Status == pagetool.Failed:
		return callOut{}, t.failed("the tool has thrown an error").With("thrown", r.Error)
	case r.Status == pagetool.Canceled:
		return callOut{}, t.failed("the page or another client has cancelled the tool")
	case len(r.Output) > maxOutput:
		return callOut{}, fault.New(fault.PayloadTooLarge, "the tool has run; what it gave is too large").
			With("bytes", len(r.Output)).With("limit_bytes", maxOutput).With("input_sent", true)
	case saysError(r.Output):
		return callOut{}, t.failed("the tool says that it failed").With("output", r.Output)
	}
	return out, nil
})

// failed is the error of a tool that has run.
func (t located) failed(message string) *fault.Error {
	return fault.New(fault.HandlerFailed, "%s", message).With("tool", t.Name).With("origin", t.origin).
		With("input_sent", true).Next("read the page before you repeat it")
}

// find is the tool that a call names. Two frames of one origin may declare the same name: then the frame is needed.
func (in callIn) find(ctx context.Context, p primitives.Page) (located, error) {
	all, own, _, err := tools(ctx, p)
	if err != nil {
		return located{}, err
	}
	origin := cmp.Or(in.Origin, own)
	var found []located
	names := []string{}
	for _, t := range all {
		if t.origin != origin || in.FrameID != "" && t.Frame != in.FrameID {
			continue
		}
		names = append(names, t.Name)
		if t.Name == in.Name {
			found = append(found, t)
		}
	}
	switch {
	case len(found) == 0:
		err := fault.New(fault.TargetNotFound, "the page declares no tool of this name").
			With("tool", in.Name).With("origin", origin).With("nearest", fault.Near(in.Name, names))
		others := slices.DeleteFunc(all, func(t located) bool { return t.Name != in.Name })
		if len(others) > 0 {
			err = err.With("elsewhere", others[0].origin).Next("name the origin or the frame")
		}
		return located{}, err
	case len(found) > 1:
		frames := make([]string, len(found))
		for i, t := range found {
			frames[i] = t.Frame
		}
		return located{}, fault.New(fault.MultipleTargets, "%d frames declare a tool of this name", len(found)).
			With("tool", in.Name).With("frame_ids", frames).Next("name one by frame_id")
	case in.Hash != "" && in.Hash != found[0].hash():
		return located{}, fault.New(fault.DriftDetected, "the tool is not the one that was listed; it was not called").
			With("tool", in.Name).With("expected", in.Hash).With("found", found[0].hash()).
			Next("list the tools again, and read what it says now")
	}
	return found[0], nil
}

// matches checks an input against the schema that the page declares.
func matches(t located, input json.RawMessage) error {
	if len(t.InputSchema) == 0 {
		return nil
	}
	s, err := schema.Compile(t.InputSchema)
	if err != nil {
		return fault.New(fault.InvalidResult, "the page declares a schema that is none; the tool was not called").
			With("tool", t.Name).With("problem", fault.From(err).Message)
	}
	if problems := s.Validate(input); len(problems) > 0 {
		return fault.New(fault.InvalidArguments, "/input%s%s", problems[0], problems[0].Advice()).
			With("path", "/input"+problems[0].Path).With("tool", t.Name)
	}
	return nil
}

// saysError reports whether an output is a result of MCP that says so.
func saysError(output json.RawMessage) bool {
	var out struct {
		IsError bool              `json:"isError"`
		Content []json.RawMessage `json:"content"`
	}
	return json.Unmarshal(output, &out) == nil && out.IsError && len(out.Content) > 0
}
