package mcp

import (
	"context"
	"encoding/json"
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
				name = call.Params.Name
			}
			result, err := next(ctx, method, req)
			r.RecordItem(began, true, name, func() []byte { return encoded(item{Method: method, Params: req.GetParams()}) })
			r.RecordItem(time.Now(), false, name, func() []byte {
				out := item{Method: method, Result: result}
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
