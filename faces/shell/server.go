package shell

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/outrider-run/outrider/faces/tools"
	"github.com/outrider-run/outrider/internal/background"
	"github.com/outrider-run/outrider/internal/owner"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Server is the process of one session. Set, Host, NewID, MCP, Routes, Tabs, Logins and Session are needed.
type Server struct {
	Set *tools.Set
	// Host is what the tools work on; NewID makes ids of its calls.
	Host  tools.Host
	NewID func() string
	// MCP makes what serves a client of MCP on this session, with options as Join was given them.
	MCP    func(ctx context.Context, options json.RawMessage) (ServeMCP, error)
	Logins tools.Logins
	Routes Routes
	// Tabs are the tabs of the browser, none while it starts.
	Tabs    func() []runtime.TabStatus
	Session Session
	Version string
	// Owner is the process that the session belongs to; zero for none.
	Owner owner.Process
	// Linger is how long the session outlives its owner, Idle how long nobody may use it.
	Linger time.Duration
	Idle   time.Duration
	Log    *slog.Logger

	started time.Time
	use     *background.Use
	end     context.CancelFunc

	mu      sync.Mutex
	running int
	last    map[string]shown // the last snapshot by page, "" for the active one
	known   map[string]*tools.Tool
}

// ServeMCP serves one client, one message a line, until in or ctx ends.
type ServeMCP func(ctx context.Context, in io.Reader, out io.Writer) error

// Serve serves the session, whose lock this process has, until ctx ends, somebody closes it, nobody has used it for
// its time, or its owner has been gone for Linger. ready is called when commands can connect.
func (s *Server) Serve(ctx context.Context, ready func()) error {
	l, err := background.ListenUnix(ctx, s.Session.Socket())
	if err != nil {
		return err
	}
	background.IgnoreBrokenPipes()
	s.started = time.Now()
	s.last = map[string]shown{}
	s.known = map[string]*tools.Tool{}
	s.use = background.NewUse(s.Idle)
	ctx, s.end = context.WithCancel(ctx)
	defer s.end()
	var watching sync.WaitGroup
	watching.Go(func() {
		s.use.Unused(ctx, s.Session.removed)
		s.end()
	})
	if s.Owner.PID != 0 {
		watching.Go(func() { s.endWithOwner(ctx) })
	}
	ready()
	background.ServeClients(ctx, l, s.serve)
	s.end()
	watching.Wait()
	return s.Session.remove()
}

// endWithOwner ends the session when its owner has been gone for a while.
func (s *Server) endWithOwner(ctx context.Context) {
	s.Owner.Wait(ctx)
	if ctx.Err() != nil {
		return
	}
	timer := time.NewTimer(s.Linger)
	defer timer.Stop()
	select {
	case <-timer.C:
		s.Log.Info("the owner of the session has ended", "pid", s.Owner.PID)
		s.end()
	case <-ctx.Done():
	}
}

// mostRequest bounds a request, which may have the text of a file in it.
const mostRequest = 64 << 20

// serve answers one command.
func (s *Server) serve(ctx context.Context, c net.Conn) {
	in := bufio.NewReaderSize(c, 64<<10)
	out := json.NewEncoder(c)
	answer := func(r reply) { // one that has gone away hears nothing
		r.Protocol = Protocol
		_ = out.Encode(r)
	}
	line, err := readLine(in, mostRequest)
	if err != nil {
		return
	}
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		answer(reply{Error: fault.Wrap(fault.InvalidInput, err, "reading the request"), End: true})
		return
	}
	if r.Protocol != Protocol {
		answer(reply{Error: otherVersion(r.Protocol), End: true})
		return
	}
	switch r.Ask {
	case askInfo:
		info := s.info()
		answer(reply{Info: &info, End: true})
	case askClose:
		answer(reply{End: true})
		s.end()
	case askRun:
		defer s.use.Begin()()
		s.run(ctx, c, in, r.Steps, answer)
	case askHost:
		defer s.use.Begin()()
		s.host(ctx, c, in, answer)
	case askMCP:
		defer s.use.Begin()()
		s.join(ctx, c, in, r.MCP, answer)
	default:
		answer(reply{Error: fault.New(fault.InvalidInput, "there is no request %q", r.Ask), End: true})
	}
}

func otherVersion(theirs int) *fault.Error {
	return fault.New(fault.SessionVersion, "the session speaks version %d of its protocol, and the command %d",
		Protocol, theirs).Next("end it with outrider close, and open it again")
}

// run does steps, and ends them when the command goes away.
func (s *Server) run(ctx context.Context, c net.Conn, in *bufio.Reader, steps []Step, answer func(reply)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !s.begin() {
		answer(reply{End: true, Error: busy()})
		return
	}
	done := sync.OnceFunc(s.done)
	defer done()
	var listening sync.WaitGroup
	listening.Go(func() {
		_, _ = in.ReadByte()
		cancel()
	})
	defer func() {
		_ = c.SetReadDeadline(time.Now())
		listening.Wait()
	}()
	turn := s.Set.Turn()
	for i, step := range steps {
		r := s.step(ctx, step, turn)
		if step.Tool == openPage && r.Error != nil && r.Error.Code == fault.BrowserLost {
			// The page went with the browser, which is being started again: nothing is there to be loaded twice.
			r = s.step(ctx, step, s.Set.Turn())
		}
		r.Step = i
		r.End = r.Error != nil || i == len(steps)-1
		if r.End {
			done() // the next command of the caller comes as soon as it has the last answer
		}
		answer(r)
		if r.End {
			return
		}
		turn = s.Set.Turn()
	}
	turn.End()
	done()
	answer(reply{End: true})
}

func busy() *fault.Error {
	return fault.New(fault.SessionBusy, "another command runs on this session, which belongs to one caller").
		Next("wait for it, or give each helper a session of its own with -s NAME")
}

// begin notes a command; it is false where another one runs on a session that is not shared.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running > 0 && !s.Session.Shared {
		return false
	}
	s.running++
	return true
}

func (s *Server) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
}

// step does one step.
func (s *Server) step(ctx context.Context, step Step, turn *tools.Turn) reply {
	if step.Tool == openPage {
		step.Tool = "tabs"
		if s.hasPage(ctx) {
			step.Arguments["action"] = "navigate"
		}
	}
	if result, is, err := s.route(ctx, step); is {
		turn.End()
		return encodedReply(result, err)
	}
	if step.Field != "" {
		s.findField(ctx, step, turn)
		turn = s.Set.Turn()
	}
	tool, err := s.tool(step)
	if err != nil {
		turn.End()
		return reply{Error: err}
	}
	args, err := s.arguments(step)
	if err != nil {
		turn.End()
		return reply{Error: err}
	}
	call := &tools.Call{Args: args, Turn: turn, Client: "shell", Key: step.Key}
	out, err := s.Set.Run(ctx, tool, call)
	if err != nil && err.Code == fault.InvalidArguments && step.Changed && step.Arguments["since"] != nil {
		delete(step.Arguments, "since") // the tab keeps few snapshots, and that one is gone
		step.Changed = false
		return s.step(ctx, step, s.Set.Turn())
	}
	if err != nil {
		return reply{Said: call.Said, Error: err}
	}
	r := encodedReply(out.Structured(), nil)
	r.Said = call.Said
	r.Text = out.Shown()
	if text := s.Set.Announcements(call); text != "" {
		r.Text += "\n" + text
	}
	r.Image = out.Image
	if step.Tool == "snapshot" && step.Arguments["find"] == nil && r.Error == nil {
		s.remember(r.Result, step.Arguments)
	}
	return r
}

// encodedReply is a reply with a result, or with an error.
func encodedReply(result any, err *fault.Error) reply {
	if err != nil {
		return reply{Error: err}
	}
	encoded, e := json.Marshal(result)
	if e != nil {
		return reply{Error: fault.Wrap(fault.InvalidResult, e, "encoding the result")}
	}
	return reply{Result: encoded}
}

// findField puts the ref of the field of a step into its arguments. Where one control has the words as its label, or
// none has them now, the locator of the arguments stays: it waits for one.
func (s *Server) findField(ctx context.Context, step Step, turn *tools.Turn) {
	label := map[string]any{"label": step.Field, "any_frame": true}
	labelled, err := s.ask(ctx, step, "locator.read", map[string]any{"locator": label, "limit": 1}, turn)
	if err != nil || plainly(labelled.Result["count"]) == "1" {
		return
	}
	found, err := s.ask(ctx, step, "field", map[string]any{"field": step.Field}, s.Set.Turn())
	if err != nil {
		return
	}
	if step.Tool == "act" {
		delete(step.Arguments, "locator")
		step.Arguments["ref"] = found.Result["ref"]
		return
	}
	step.Arguments["locator"] = map[string]any{"ref": found.Result["ref"]}
}

// ask runs a tool for a step, on its page.
func (s *Server) ask(
	ctx context.Context, step Step, name string, args map[string]any, turn *tools.Turn,
) (*tools.Answer, *fault.Error) {
	defer turn.End()
	tool, err := s.tool(Step{Tool: name})
	if err != nil {
		return nil, err
	}
	if page := step.Arguments["page"]; page != nil {
		args["page"] = page
	}
	encoded, e := json.Marshal(args)
	if e != nil {
		return nil, fault.Wrap(fault.Internal, e, "encoding the arguments")
	}
	return s.Set.Run(ctx, tool, &tools.Call{Args: encoded, Turn: turn, Client: "shell"})
}

// hasPage reports whether the browser has a page. It waits for a browser that starts.
func (s *Server) hasPage(ctx context.Context) bool {
	list, err := s.tool(Step{Tool: "tabs"})
	if err != nil {
		return false
	}
	out, err := s.Set.Run(ctx, list, &tools.Call{Args: json.RawMessage(`{"action":"list"}`), Client: "shell"})
	if err != nil {
		return false
	}
	pages, _ := out.Result["pages"].([]any)
	return len(pages) > 0
}

// shown is a snapshot that was given, with the arguments that another one must have to be compared with it.
type shown struct {
	id          string
	ref         any
	interactive any
}

// tool finds the tool of a step, and makes it ready once.
func (s *Server) tool(step Step) (*tools.Tool, *fault.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := step.Tool
	if name == loadLogin {
		name = "storage_state.set"
	}
	if t := s.known[name]; t != nil {
		return t, nil
	}
	list := append(s.Set.Core(), s.Set.FieldTool())
	if t, ok := s.Set.Primitive(name); ok {
		list = append(list, t)
	}
	for _, t := range list {
		if t.Name != name {
			continue
		}
		if err := t.Compile(); err != nil {
			return nil, fault.Wrap(fault.Internal, err, "reading the schema of %s", name)
		}
		s.known[name] = &t
		return &t, nil
	}
	return nil, fault.New(fault.UnknownPrimitive, "there is no tool and no primitive %s", name)
}

// arguments are those of a step, with what only the session knows.
func (s *Server) arguments(step Step) (json.RawMessage, *fault.Error) {
	args := step.Arguments
	if step.Tool == loadLogin {
		name, _ := args["login"].(string)
		state, err := s.Logins.Load(name)
		if err != nil {
			return nil, fault.From(err)
		}
		args = map[string]any{"state": state}
		if page := step.Arguments["page"]; page != nil {
			args["page"] = page
		}
	}
	if step.Changed {
		s.since(args)
	}
	encoded, err := json.Marshal(args)
	if err != nil {
		return nil, fault.Wrap(fault.InvalidInput, err, "encoding the arguments")
	}
	return encoded, nil
}

// since has a snapshot tell what changed since the last one of its page, of the same part and kind.
func (s *Server) since(args map[string]any) {
	page, _ := args["page"].(string)
	s.mu.Lock()
	defer s.mu.Unlock()
	last, ok := s.last[page]
	if !ok {
		return
	}
	args["since"] = last.id
	for name, value := range map[string]any{"ref": last.ref, "interactive_only": last.interactive} {
		if value != nil {
			args[name] = value
		}
	}
}

// mostRemembered bounds the pages whose last snapshot is remembered.
const mostRemembered = 200

// remember notes the last snapshot of a page.
func (s *Server) remember(result json.RawMessage, args map[string]any) {
	var head struct {
		Page string `json:"page"`
		ID   string `json:"snapshot_id"`
	}
	if json.Unmarshal(result, &head) != nil || head.ID == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.last) > mostRemembered {
		clear(s.last)
	}
	now := shown{id: head.ID, ref: args["ref"], interactive: args["interactive_only"]}
	s.last[head.Page] = now
	s.last[""] = now
}

// info describes the session.
func (s *Server) info() Info {
	out := Info{
		Name:    s.Session.Name,
		Shared:  s.Session.Shared,
		PID:     os.Getpid(),
		Version: s.Version,
		Started: s.started,
		Used:    s.use.Last(),
		Owner:   s.Owner.PID,
		Memory:  memoryOf(os.Getpid()),
	}
	for _, t := range s.Tabs() {
		out.Pages++
		if t.Active || out.URL == "" {
			out.URL = t.URL
			out.Title = t.Title
		}
	}
	return out
}
