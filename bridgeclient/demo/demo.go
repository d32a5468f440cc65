// Package demo shows the main job once: a bridge, a runtime on bundled pages, and
// the calls of an agent with what must come of each. It measures and tests nothing
// beyond that. The verb demo calls it.
package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/bridgeclient/actionsbridge"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/faces/hub"
	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/sites/demo"
)

// call is one call of the demo's agent and what must come of it.
type call struct {
	say   string
	name  string
	args  string
	code  fault.Code // the expected failure; "" for success
	event string     // name of the dom_event that must follow; "" for none
}

// site are the arguments of a call of an action of the site.
func site(action, args string) string {
	return mode(runtime.Site{Mode: runtime.SiteCall, Action: action, Arguments: json.RawMessage(args)})
}

// mode are the arguments of a call of the site's tool.
func mode(in runtime.Site) string {
	args, err := in.JSON()
	if err != nil {
		panic(err) // all of them are written below
	}
	return string(args)
}

// state is the projection of the demo's map.
const state = "board.state"

var calls = []call{
	{say: "What does this site offer?", name: runtime.SiteTool, args: mode(runtime.Site{Mode: runtime.SiteList})},
	{say: "A tool of the map that this one imports", name: runtime.SiteTool, args: site("helpers.headings", `{}`)},
	{say: "Wait for content that arrives late", name: runtime.SiteTool, args: site("board.read_activity", `{}`)},
	{
		say:  "Add a card: a composer that appears a moment later, typed and saved with trusted input",
		name: runtime.SiteTool,
		args: site("board.add_card", `{"list":"todo","title":"Welcome the new pilot"}`),
	},
	{
		say:  "Set labels, one step per label, on one-pixel checkboxes behind styled labels",
		name: runtime.SiteTool,
		args: site("board.label_card", `{"title":"Welcome the new pilot","labels":["upkeep","urgent"]}`),
	},
	{
		say:  "Choose a member in a shadow-root widget",
		name: runtime.SiteTool,
		args: site("board.assign_card", `{"title":"Welcome the new pilot","member":"Ada"}`),
	},
	{
		say:  "Write a comment in a frame",
		name: runtime.SiteTool,
		args: site("board.comment_card", `{"title":"Welcome the new pilot","text":"Berth 4 is free from noon"}`),
	},
	{
		say:  "Read the page as state, in a few bytes",
		name: runtime.SiteTool,
		args: mode(runtime.Site{Mode: runtime.SiteStateSummary, Projection: state, Summary: "agent_context"}),
	},
	{
		say:  "Watch that state from now on",
		name: runtime.SiteTool,
		args: mode(runtime.Site{Mode: runtime.SiteStateWatch, Projection: state, DebounceMS: 50}),
	},
	{
		say:   "Move the card: the watch tells what changed, unasked",
		name:  runtime.SiteTool,
		args:  site("board.move_card", `{"title":"Welcome the new pilot","to":"doing"}`),
		event: "state.board.state",
	},
	{
		say:  "End the watch",
		name: runtime.SiteTool,
		args: mode(runtime.Site{Mode: runtime.SiteStateWatch, Projection: state, Enabled: new(bool)}),
	},
	{
		say:  "Delete another one and answer the browser's question",
		name: runtime.SiteTool,
		args: site("board.delete_card", `{"title":"Sweep the fish market"}`),
	},
	{say: "Read the result", name: runtime.SiteTool, args: site("board.list_cards", `{"list":"doing"}`)},
	{
		say:  "Is the page still as the map says? One of the checks opens a card first",
		name: runtime.SiteTool,
		args: mode(runtime.Site{Mode: runtime.SiteCheck}),
	},
	{
		say:  "A call without its title is refused before anything happens",
		name: runtime.SiteTool,
		args: site("board.add_card", `{"list":"todo"}`),
		code: fault.InvalidInput,
	},
	{
		say:  "An action nobody declared",
		name: runtime.SiteTool,
		args: site("board.open_crad", `{}`),
		code: fault.UnknownAction,
	},
	{
		say:  "A primitive on an element that is not there",
		name: "locator.element_info",
		args: `{"locator":{"selector":"#crane"}}`,
		code: fault.TargetNotFound,
	},
	{
		say:  "What does it look like now? Finish and close, Count and do first are attachments of the map",
		name: "browser.screenshot",
		args: `{"format":"png","max_width":1280}`,
	},
}

// Options configure Run.
type Options struct {
	// Runtime is the host to open: the page and the map of the demo are added.
	Runtime runtime.Options
	// Keep is the folder of the screenshot and of the conversation. It must exist.
	Keep string
	// JSON prints each protocol item as one line on Out, and nothing else.
	JSON bool
	// Out gets the story. Warn gets what could not be written.
	Out  io.Writer
	Warn func(error)
}

// ErrIncomplete says that all went well except for a file that could not be written.
var ErrIncomplete = errors.New("a file of the demo could not be written")

// Run shows the demo and ends with everything it started. The error of a failed
// listen is as the net package has it.
func Run(ctx context.Context, o Options) error {
	show := &conversation{out: o.Out, json: o.JSON, began: time.Now(), events: make(chan string, 64)}

	siteURL, stopSite, err := serve()
	if err != nil {
		return err
	}
	defer stopSite()
	show.say("The demo site is at %s", siteURL)

	connected := make(chan struct{}, 1)
	bridge, err := hub.New(hub.Options{
		Listen:  "127.0.0.1:0",
		Logger:  o.Runtime.Logger,
		Version: o.Runtime.Version,
		Observe: show.item,
		OnRuntime: func(c hub.RuntimeChange) {
			if c.Kind == "connected" {
				select {
				case connected <- struct{}{}:
				default:
				}
			}
		},
	})
	if err != nil {
		return err
	}
	if err := bridge.Listen(); err != nil {
		return err
	}
	show.say("The bridge listens on %s", bridge.Addr())

	maps, err := runtime.MapFromFiles(demo.Maps, demo.MapName, o.Runtime.Registry, o.Runtime.Engine)
	if err != nil {
		return err
	}
	o.Runtime.Maps, o.Runtime.Open = maps, []string{siteURL}
	host, err := runtime.Open(ctx, o.Runtime)
	if err != nil {
		return err
	}
	defer func() { _ = host.Close(context.WithoutCancel(ctx)) }()
	show.say("%s is running and shows the page", host.Info().Browser)

	client, err := bridgeclient.New(&bridgeclient.Options{
		URL:     "ws://" + bridge.Addr() + "/extension",
		Dialect: actionsbridge.New(nil),
		Host:    host,
		Logger:  o.Runtime.Logger,
	})
	if err != nil {
		return err
	}
	defer inBackground(ctx, bridge.Run)()
	leave := inBackground(ctx, client.Run)
	defer leave()

	show.say("The runtime connects to the bridge and announces itself")
	select {
	case <-connected:
	case <-time.After(10 * time.Second):
		return fault.New(fault.RuntimeNotReady, "the runtime did not reach the bridge within 10 s")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	complete := true
	for _, c := range calls {
		show.say("%s", c.say)
		r := bridge.Call(ctx, hub.ToolCall{Name: c.name, Arguments: json.RawMessage(c.args)})
		if err := c.check(r); err != nil {
			return err
		}
		if err := show.await(ctx, c); err != nil {
			return err
		}
		if c.name == "browser.screenshot" {
			path := filepath.Join(o.Keep, "board.png")
			var unwritten *fs.PathError
			switch _, err := plan.SaveImage(r.Output, report.Anywhere, path); {
			case errors.As(err, &unwritten):
				complete = false
				o.Warn(fmt.Errorf("the screenshot could not be written: %w", unwritten))
			case err != nil:
				return err
			default:
				show.say("The screenshot is at %s", path)
			}
		}
	}
	show.say("The runtime takes its leave, once the bridge has its last answer")
	leave()
	path := filepath.Join(o.Keep, "conversation.jsonl")
	if err := os.WriteFile(path, show.log.Bytes(), 0o644); err != nil {
		complete = false
		o.Warn(fmt.Errorf("the conversation could not be written: %w", err))
	} else {
		show.say("Done in %s. The whole conversation is at %s", time.Since(show.began).Round(10*time.Millisecond), path)
	}
	if !complete {
		return ErrIncomplete
	}
	return nil
}

// inBackground runs f until stop is called, which waits for its end.
func inBackground(ctx context.Context, f func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = f(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

func (c call) check(r hub.ToolResult) error {
	if r.OK && c.code == "" {
		return nil
	}
	var e struct {
		Code    fault.Code `json:"code"`
		Message string     `json:"message"`
	}
	if !r.OK && len(r.Error) > 0 && json.Unmarshal(r.Error, &e) != nil {
		e.Message = string(r.Error)
	}
	if !r.OK && c.code != "" && e.Code == c.code {
		return nil
	}
	want := "success"
	if c.code != "" {
		want = string(c.code)
	}
	return fault.New(
		fault.HandlerFailed, "the demo's call (%s) gave %q, expected %s: %s", c.say, e.Code, want, e.Message,
	).With("error", json.RawMessage(orNull(r.Error)))
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

func serve() (url string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: demo.Handler(600 * time.Millisecond), ReadHeaderTimeout: 5 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return
		}
	}()
	return "http://" + listener.Addr().String() + "/", func() { _ = server.Close(); <-done }, nil
}

// conversation shows the items that pass the bridge: for people, shortened and
// with a word on what is going on; with --json as they are.
type conversation struct {
	out   io.Writer
	json  bool
	began time.Time

	mu     sync.Mutex
	log    bytes.Buffer
	events chan string // names of the dom_events seen; those beyond its size are not kept
}

// await returns when the event that a call brings has passed the bridge. An event
// may come before the output of the call that caused it.
func (c *conversation) await(ctx context.Context, of call) error {
	if of.event == "" {
		return nil
	}
	late := time.NewTimer(10 * time.Second)
	defer late.Stop()
	for {
		select {
		case name := <-c.events:
			if name == of.event {
				return nil
			}
		case <-late.C:
			return fault.New(
				fault.HandlerFailed, "the demo's call (%s) was not followed by the event %s within 10 s",
				of.say, of.event,
			)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (c *conversation) say(format string, args ...any) {
	if c.json {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c.out, "\n%6.2fs  %s\n", time.Since(c.began).Seconds(), fmt.Sprintf(format, args...))
}

func (c *conversation) item(o hub.Observation) {
	line, err := json.Marshal(map[string]any{"at": o.At.UTC().Format(time.RFC3339Nano), "dir": o.Dir, "item": o.Item})
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log.Write(append(line, '\n'))
	var head struct {
		Type string `json:"type"`
		Name string `json:"event"`
	}
	if json.Unmarshal(o.Item, &head) == nil && head.Type == "dom_event" {
		select {
		case c.events <- head.Name:
		default:
		}
	}
	if c.json {
		fmt.Fprintf(c.out, "%s\n", line)
		return
	}
	fmt.Fprintf(c.out, "         %s  %s\n", o.Dir, report.Shorten(outline(o.Item), 420))
}

// outline is an item for people: its own manifest and pictures left out.
func outline(item json.RawMessage) string {
	var m map[string]any
	if json.Unmarshal(item, &m) != nil {
		return string(item)
	}
	if _, ok := m["manifest"]; ok {
		m["manifest"] = "…"
	}
	prune(m)
	kind, _ := m["type"].(string)
	delete(m, "type")
	text, _ := jsonout.Line(m) // it was JSON
	return kind + " " + string(text)
}

func prune(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			if s, ok := inner.(string); ok && k == "data_url" {
				v[k] = fmt.Sprintf("(%d bytes)", len(s))
				continue
			}
			prune(inner)
		}
	case []any:
		for _, inner := range v {
			prune(inner)
		}
	}
}
