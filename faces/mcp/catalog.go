package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/outrider-run/outrider/faces/tools"
	"github.com/outrider-run/outrider/internal/idempotency"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/plain"
)

// offer lists tools under names that every client takes, and takes calls of them by those and by
// their own.
func (s *Server) offer(list []tools.Tool) error {
	own := make([]string, len(list))
	for i, t := range list {
		own[i] = t.Name
	}
	names := listedNames(own, func(string) bool { return false })
	s.own = make(map[string]bool, len(list))
	for _, t := range list {
		s.own[names[t.Name]] = true
		if err := s.offerAs(t, names[t.Name]); err != nil {
			return err
		}
	}
	return nil
}

// offerAs lists one tool under a name.
func (s *Server) offerAs(t tools.Tool, name string) error {
	if err := t.Compile(); err != nil {
		return fmt.Errorf("input schema of tool %s: %w", t.Name, err)
	}
	s.names.add(t.Name, name)
	s.server.AddTool(&sdk.Tool{
		Name:         name,
		Description:  withProtocolName(t.Description, t.Name, name),
		Annotations:  &sdk.ToolAnnotations{Title: t.Title, ReadOnlyHint: t.Reads, IdempotentHint: t.Reads},
		InputSchema:  t.Input,
		OutputSchema: t.Output,
	}, s.handler(t))
	return nil
}

// handler runs one tool. A failure is a result that a model can read, with the code in its structured content.
func (s *Server) handler(t tools.Tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		report := newReporter(ctx, req)
		defer report.end()
		c := &tools.Call{
			Args:     req.Params.Arguments,
			Progress: report.progress,
			Turn:     s.turnOf(req),
			Client:   clientOf(req),
		}
		out, err := s.run(ctx, &t, c, req.Params.Meta)
		var result *sdk.CallToolResult
		if err != nil {
			result = failure(err)
		} else {
			result = resultOf(out)
		}
		if lines, ok := s.lines.Load(req.Session); ok && ctx.Err() == nil {
			lines.(*splicer).splice(result)
		}
		also := func(text string) { result.Content = append(result.Content, &sdk.TextContent{Text: text}) }
		if text := s.tools.Announcements(c); text != "" && (err != nil || out.Text != "") {
			also(text) // the result as JSON has them
		}
		if len(c.Said) > 0 {
			also("arguments: " + strings.Join(c.Said, "; "))
		}
		return result, nil
	}
}

// keyMember is the member of _meta that says which act of the client a call is.
const keyMember = "idempotency_key"

// run runs one tool. A call that comes again with its key acts no second time.
func (s *Server) run(ctx context.Context, t *tools.Tool, c *tools.Call, meta sdk.Meta) (*tools.Answer, *fault.Error) {
	if key, ok := meta[keyMember]; ok {
		c.Key, ok = key.(string)
		if !ok || c.Key == "" || len(c.Key) > idempotency.LongestKey {
			return nil, fault.New(
				fault.InvalidInput, "_meta.%s must be a text of 1 to %d bytes", keyMember, idempotency.LongestKey,
			).With("path", "/_meta/"+keyMember)
		}
	}
	return s.tools.Run(ctx, t, c)
}

// clientOf is the session of a call: that of HTTP, or the one client on lines; "" for a request without a session.
func clientOf(req *sdk.CallToolRequest) string {
	if req.Extra == nil || req.Extra.Header == nil {
		return "lines"
	}
	return req.Extra.Header.Get("Mcp-Session-Id")
}

// resultOf encodes an answer. Clients that know nothing of structured content
// read the text.
func resultOf(a *tools.Answer) *sdk.CallToolResult {
	content := []sdk.Content{&sdk.TextContent{Text: a.Shown()}}
	if len(a.Image) > 0 {
		content = append(content, &sdk.ImageContent{Data: a.Image, MIMEType: a.Type})
	}
	return &sdk.CallToolResult{Content: content, StructuredContent: a.Structured()}
}

// failure is a result that says what went wrong. It has no structured content:
// that would have to match the tool's output schema; the error is in _meta and,
// for the model, in the text: on one line, and then with all that is known.
func failure(err *fault.Error) *sdk.CallToolResult {
	encoded, e := json.Marshal(err)
	if e != nil {
		encoded = []byte(`{"code":"internal"}`)
	}
	return &sdk.CallToolResult{
		IsError: true, Meta: sdk.Meta{"outrider/error": json.RawMessage(encoded)},
		Content: []sdk.Content{&sdk.TextContent{Text: plain.Text(err.Line() + told(encoded))}},
	}
}

// untold are members of an error that its line says, or that say how the runtime works.
var untold = []string{"message", "severity", "adapter", "primitive", "rate_limit_wait_ms"}

// countedOnly are members of evidence that count what the runtime did on the way.
var countedOnly = []string{"attempts", "body_text_length", "frame_count", "name_matches", "role_matches", "unmatched"}

// told are the members of an error beside its line, without empty ones; "" for none.
func told(encoded []byte) string {
	var all map[string]any
	d := json.NewDecoder(bytes.NewReader(encoded))
	d.UseNumber()
	if d.Decode(&all) != nil {
		return "\n" + string(encoded)
	}
	for _, name := range untold {
		delete(all, name)
	}
	if evidence, ok := all["evidence"].(map[string]any); ok {
		for _, name := range countedOnly {
			delete(evidence, name)
		}
	}
	if all["recoverable"] == true {
		delete(all, "recoverable")
	}
	rest, ok := withoutEmpty(all)
	if !ok {
		return ""
	}
	text, err := json.Marshal(rest)
	if err != nil {
		return ""
	}
	return "\n" + string(text)
}

// withoutEmpty is a value without members that hold nothing; false where nothing is left.
func withoutEmpty(value any) (any, bool) {
	switch v := value.(type) {
	case nil:
		return nil, false
	case string:
		return v, v != ""
	case []any:
		return v, len(v) > 0
	case map[string]any:
		for name, member := range v {
			kept, ok := withoutEmpty(member)
			if !ok {
				delete(v, name)
				continue
			}
			v[name] = kept
		}
		return v, len(v) > 0
	}
	return value, true
}
