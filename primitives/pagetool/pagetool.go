// Package pagetool has the types of the tools that the documents of a page declare for agents (WebMCP). It finds and
// runs none. The package webmcp of the browser does, and the primitives webmcp.* ask for it.
package pagetool

import (
	"context"
	"encoding/json"
)

// Page is what a page knows of the tools that its documents declare for agents (WebMCP).
type Page interface {
	// PageTools lists the tools of the documents that are there, in the order in which they came. more counts those
	// beyond the limit. It fails with capability_unavailable in a browser that was started without them.
	PageTools(ctx context.Context) (tools []Tool, more int, err error)

	// InvokePageTool runs a tool and waits for what it gives, until ctx ends, its frame is gone or a dialog opens. It
	// fails with target_not_found when the tool is gone.
	InvokePageTool(ctx context.Context, tool Tool, input json.RawMessage) (Result, error)
}

// Tool is a tool that a document has declared. All texts are the page's own word.
type Tool struct {
	// ID is that of this registration: one that comes again has another.
	ID          int64
	Frame       string
	Name        string
	Description string
	InputSchema json.RawMessage // nil for none
	// Form: a form declares it. It is sent by somebody else, unless Autosubmit.
	Form, Autosubmit bool
	// Hints of the page; they permit nothing.
	ReadOnly, Untrusted, Consequential bool
}

// Result is what became of the call of a tool.
type Result struct {
	// Status is one of those below.
	Status string
	Output json.RawMessage // of a completed one
	// Error is what the tool has thrown, in the page's words.
	Error string
}

// What becomes of the call of a tool.
const (
	Completed = "completed"
	Failed    = "failed"
	Canceled  = "canceled"
	// AwaitsSubmission: the form is filled in, and somebody has to send it.
	AwaitsSubmission = "awaiting_submission"
)
