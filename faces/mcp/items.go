package mcp

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// itemRecorder is a host that records the messages of its faces.
type itemRecorder interface {
	RecordItem(at time.Time, received bool, name string, item func() []byte)
}

// item is a message as it is recorded.
type item struct {
	Method string `json:"method"`
	Params any    `json:"params,omitempty"`
	Result any    `json:"result,omitempty"`
	Error  string `json:"error,omitempty"`
}

// recordItems has requests and their results recorded, where the host does that.
func (s *Server) recordItems() {
	r, ok := s.opts.Host.(itemRecorder)
	if !ok {
		return
	}
	s.server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			began, name := time.Now(), ""
			if call, ok := req.(*sdk.CallToolRequest); ok {
				name = s.primitiveOf(call.Params)
			}
			result, err := next(ctx, method, req)
			r.RecordItem(began, true, name, func() []byte {
				return encoded(item{Method: method, Params: req.GetParams()})
			})
			r.RecordItem(time.Now(), false, name, func() []byte {
				out := item{Method: method, Result: result}
				if called, ok := result.(*sdk.CallToolResult); ok && givesStores(name) {
					out.Result = withoutTexts(called)
				}
				if err != nil {
					out.Result, out.Error = nil, err.Error()
				}
				return encoded(out)
			})
			return result, err
		}
	})
}

func encoded(i item) []byte {
	b, err := json.Marshal(i)
	if err != nil {
		return nil
	}
	return b
}

// primitiveOf is the name of what a call runs, as the protocol has it.
func (s *Server) primitiveOf(p *sdk.CallToolParamsRaw) string {
	name := s.names.own(p.Name)
	family, ok := strings.CutPrefix(name, "primitives.")
	if !ok {
		return name
	}
	var in struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(p.Arguments, &in) // the call is refused, and then it gave nothing
	return family + "." + in.Name
}

// givesStores reports whether a primitive answers what is kept in cookies and storage, which is never
// recorded.
func givesStores(name string) bool {
	return strings.HasPrefix(name, "cookie.") || strings.HasPrefix(name, "storage_state.")
}

// withoutTexts is a result whose texts say nothing. The recorder takes the values out of its
// structured content; the same in a text it does not see.
func withoutTexts(r *sdk.CallToolResult) *sdk.CallToolResult {
	own := *r
	own.Content = make([]sdk.Content, len(r.Content))
	for i, c := range r.Content {
		if _, ok := c.(*sdk.TextContent); ok {
			c = &sdk.TextContent{Text: "[values of cookies and storage are not recorded]"}
		}
		own.Content[i] = c
	}
	return &own
}
