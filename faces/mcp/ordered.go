package mcp

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/outrider-run/outrider/faces/tools"
)

// ordered gives each call of a tool its turn when its line is read. The SDK runs calls beside each other,
// so later nobody knows which came first.
type ordered struct {
	server *Server
	lines  sdk.Transport
}

// Connect implements sdk.Transport.
func (o *ordered) Connect(ctx context.Context) (sdk.Connection, error) {
	lines, err := o.lines.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &orderedLines{Connection: lines, server: o.server, open: map[any]waiting{}}, nil
}

// waiting is a call that has no answer yet.
type waiting struct {
	extra *sdk.RequestExtra
	turn  *tools.Turn
}

// orderedLines are the lines of one client.
type orderedLines struct {
	sdk.Connection
	server *Server

	mu   sync.Mutex
	open map[any]waiting // by the id of the call; nil when the lines are closed
}

// Read implements sdk.Connection.
func (o *orderedLines) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := o.Connection.Read(ctx)
	call, ok := m.(*jsonrpc.Request)
	if err != nil || !ok || !call.IsCall() || call.Method != "tools/call" {
		return m, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open == nil { // nobody would end its turn
		return m, nil
	}
	w := waiting{extra: &sdk.RequestExtra{}, turn: o.server.tools.Turn()}
	call.Extra = w.extra
	o.server.taken.Store(w.extra, w.turn)
	o.open[call.ID.Raw()] = w
	return m, nil
}

// Write implements sdk.Connection. A call that was answered before it came to its tool has ended too.
func (o *orderedLines) Write(ctx context.Context, m jsonrpc.Message) error {
	if answer, ok := m.(*jsonrpc.Response); ok {
		o.mu.Lock()
		w, ok := o.open[answer.ID.Raw()]
		delete(o.open, answer.ID.Raw())
		o.mu.Unlock()
		if ok {
			o.server.left(w)
		}
	}
	return o.Connection.Write(ctx, m)
}

// Close implements sdk.Connection.
func (o *orderedLines) Close() error {
	o.mu.Lock()
	open := o.open
	o.open = nil
	o.mu.Unlock()
	for _, w := range open {
		o.server.left(w)
	}
	return o.Connection.Close()
}

// left ends the turn of a call that is over.
func (s *Server) left(w waiting) {
	s.taken.Delete(w.extra)
	w.turn.End()
}

// turnOf is the turn of a call: that of its line, else the next one.
func (s *Server) turnOf(req *sdk.CallToolRequest) *tools.Turn {
	if taken, ok := s.taken.Load(req.Extra); ok {
		return taken.(*tools.Turn)
	}
	return s.tools.Turn()
}
