package provider

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

const anyObject = `{"type":"object"}`

// customMethods are those beyond the draft. Each is announced with its schema.
func customMethods() []*method {
	named := func(members, required string) string { return params(pageMembers+`,`+members, "session_id", required) }
	return []*method{
		{
			name:   "request.cancel",
			tier:   custom,
			free:   true,
			run:    cancelRequest,
			input:  params(`"request_id":{"type":"string","minLength":1}`, "request_id"),
			output: `{"type":"object","required":["cancelled"],"properties":{"cancelled":{"type":"boolean"}}}`,
			description: "Cancel a request of this connection that has no answer yet. The request is answered with " +
				"internal_error, details.code cancelled.",
		},
		{
			name:        "actions.list",
			tier:        custom,
			scope:       onPage,
			run:         site(runtime.SiteList),
			input:       params(pageMembers, "session_id"),
			output:      anyObject,
			description: "List the actions and states that the site's own map declares for the page.",
		},
		{
			name:        "actions.call",
			tier:        custom,
			scope:       onPage,
			run:         site(runtime.SiteCall, "action", "arguments"),
			output:      anyObject,
			input:       named(`"action":{"type":"string","minLength":1},"arguments":{"type":"object"}`, "action"),
			description: "Run one declared site action.",
		},
		{
			name:        "state.read",
			tier:        custom,
			scope:       onPage,
			run:         site(runtime.SiteStateRead, "projection_name"),
			output:      anyObject,
			input:       named(`"projection_name":{"type":"string","minLength":1}`, "projection_name"),
			description: "Read a declared projection of the page as data.",
		},
		{
			name:   "state.summary",
			tier:   custom,
			scope:  onPage,
			run:    site(runtime.SiteStateSummary, "projection_name", "summary_name", "max_bytes"),
			output: anyObject,
			input: params(pageMembers+`,"projection_name":{"type":"string","minLength":1},`+
				`"summary_name":{"type":"string","minLength":1},"max_bytes":{"type":"integer","minimum":1}`,
				"session_id", "projection_name", "summary_name"),
			description: "Read a declared summary of a projection.",
		},
		{
			name:  "dialog.answer",
			tier:  custom,
			scope: onPage,
			free:  true,
			needs: []string{"browser.dismiss_dialog"},
			run:   answerDialog,
			input: params(
				pageMembers+`,"accept":{"type":"boolean"},"prompt_text":{"type":"string"}`, "session_id",
			),
			output:      anyObject,
			description: "Answer the dialog that blocks the page.",
		},
		{
			name:   "page.extract_markdown",
			tier:   custom,
			scope:  onPage,
			needs:  []string{"page.extract"},
			run:    markdown,
			output: anyObject,
			input: params(
				pageMembers+`,"max_bytes":{"type":"integer","minimum":200,"maximum":8000000}`, "session_id",
			),
			description: "Read the content of the page as Markdown, without its navigation.",
		},
		{
			name:        "primitive.list",
			tier:        custom,
			free:        true,
			run:         onServer((*Server).listPrimitives),
			input:       anyObject,
			output:      anyObject,
			description: "List the primitives of the runtime's dictionary with their input schemas.",
		},
		{
			name:         "primitive.call",
			tier:         custom,
			scope:        onPage,
			experimental: true,
			run:          callPrimitive,
			output:       anyObject,
			input:        named(`"name":{"type":"string","minLength":1},"arguments":{"type":"object"}`, "name"),
			description:  "Run one primitive of the runtime's dictionary on the page.",
		},
		{
			name:         "cdp.send",
			tier:         custom,
			scope:        onPage,
			experimental: true,
			when:         func(s *Server) bool { return s.opts.AllowCDP },
			run:          sendCDP,
			output:       anyObject,
			input: named(
				`"method":{"type":"string","pattern":"^[A-Z][A-Za-z]*\\.[a-z][A-Za-z]*$"},"params":{"type":"object"}`,
				"method",
			),
			description: "Send one command of the Chrome DevTools Protocol to the page's target, past every rule of " +
				"the runtime.",
		},
	}
}

func cancelRequest(_ context.Context, r *request) (any, *Failure) {
	var in struct {
		ID string `json:"request_id"`
	}
	if failure := r.decode(&in); failure != nil {
		return nil, failure
	}
	return map[string]any{"cancelled": in.ID != r.id && r.connection.stopRequest(in.ID)}, nil
}

// site calls the page's site tool: a mode of actions.site and the params that belong
// to it.
func site(mode runtime.SiteMode, members ...string) func(context.Context, *request) (any, *Failure) {
	return func(ctx context.Context, r *request) (any, *Failure) {
		args := r.only(members...)
		args["mode"] = mode
		var out map[string]any
		reply, err := r.do(ctx, runtime.SiteTool, args, &out)
		if err != nil {
			f := r.failed(err)
			if err.Code == fault.UnknownAction || err.Code == fault.StateProjectionNotFound {
				f.Code = InvalidRequest // the method exists, what it names does not
			}
			return nil, f
		}
		return map[string]any{"page_id": pageID(r.page), "url": reply.URL, "output": out}, nil
	}
}

func answerDialog(ctx context.Context, r *request) (any, *Failure) {
	var out map[string]any
	reply, err := r.do(ctx, "browser.dismiss_dialog", r.only("accept", "prompt_text"), &out)
	if err != nil {
		f := r.failed(err)
		if err.Code == fault.NoDialog {
			f.Code, f.Retryable = NotReady, true
		}
		return nil, f
	}
	return r.about(reply, map[string]any{"answered": true, "dialog": out["dialog"]}), nil
}

func markdown(ctx context.Context, r *request) (any, *Failure) {
	args := r.only("max_bytes")
	args["formats"] = []string{"markdown"}
	var out map[string]any
	reply, err := r.do(ctx, "page.extract", args, &out)
	if err != nil {
		return nil, r.failed(err)
	}
	if out["truncated"] != nil {
		r.warn("text_truncated", "the content is longer than max_bytes")
	}
	return r.about(reply, map[string]any{"title": out["title"], "markdown": out["markdown"]}), nil
}

func (s *Server) listPrimitives(context.Context, *request) (any, *Failure) {
	list := []map[string]any{}
	for _, entry := range s.opts.Host.Dictionary() {
		list = append(list, map[string]any{
			"name":         entry.Name,
			"summary":      entry.Summary,
			"acts":         entry.Acts,
			"input_schema": entry.InputSchema,
		})
	}
	return map[string]any{"primitives": list}, nil
}

func callPrimitive(ctx context.Context, r *request) (any, *Failure) {
	var in struct {
		Name      string         `json:"name"`
		Arguments map[string]any `json:"arguments"`
	}
	if failure := r.decode(&in); failure != nil {
		return nil, failure
	}
	if _, ok := r.server.primitives[in.Name]; !ok {
		return nil, invalidRequest("/name", "the dictionary has no such primitive")
	}
	if in.Arguments == nil {
		in.Arguments = map[string]any{}
	}
	reply, err := r.do(ctx, in.Name, in.Arguments, nil)
	if err != nil {
		return nil, r.failed(err)
	}
	return map[string]any{"page_id": pageID(r.page), "url": reply.URL, "output": reply.Output}, nil
}

func sendCDP(ctx context.Context, r *request) (any, *Failure) {
	var in struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if failure := r.decode(&in); failure != nil {
		return nil, failure
	}
	protocol, ok := r.server.opts.Host.(protocolHost)
	if !ok {
		return nil, newFailure(UnsupportedTarget, "this host has no door to the browser's protocol")
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout())
	defer cancel()
	out, err := protocol.Protocol(
		ctx, runtime.Target{Workspace: r.page.Workspace, TabID: r.page.TabID}, in.Method, in.Params,
	)
	if err != nil {
		return nil, r.failed(err)
	}
	return map[string]any{"page_id": pageID(r.page), "result": json.RawMessage(out)}, nil
}
