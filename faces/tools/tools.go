package tools

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/internal/idempotency"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/schema"
	"github.com/outrider-run/outrider/runtime"
)

// Host has the methods of a runtime that tools need; *runtime.Host is one.
type Host interface {
	Do(ctx context.Context, call runtime.Call) runtime.Reply
	Tabs() []runtime.TabStatus
	OpenTab(ctx context.Context, address string, active bool) (runtime.TabStatus, error)
	NewWorkspace(ctx context.Context, opts runtime.WorkspaceOptions) (*runtime.Workspace, error)
	Subscribe(fn func(runtime.Event)) (unsubscribe func())
	Dictionary() []runtime.DictionaryEntry
}

// Options configure a Set. NewID is required, and Host by all tools of this package.
type Options struct {
	Host Host
	// NewID makes unguessable ids: a session handle is what keeps one client
	// from another's pages.
	NewID func() string
	// CallTimeout bounds a call that brings no timeout_ms. Default 30 s.
	CallTimeout time.Duration
	// SessionIdle closes a session that nobody has used for so long. Default
	// 30 min.
	SessionIdle time.Duration
	// Logins, when not nil, lets clients keep what a session has stored, by name.
	Logins Logins
	// Failed, when not nil, says why there is no browser; nil while it starts and when it has.
	Failed func() *fault.Error
	Logger *slog.Logger
}

// Set is the tools over one runtime, with what they remember from call to call. It may serve many clients at once.
type Set struct {
	opts        Options
	log         *slog.Logger
	sessions    sessions
	screenshots screenshotStore
	piggybacked bridgeclient.Piggybacked // by workspace, "" for the runtime's own tabs
	downloadsMu sync.Mutex
	downloads   map[string]*awaitedDownloads // by workspace, as piggybacked

	consoles   perPage[int]       // how far the console of a page has been reported
	complained perPage[[]string]  // what was told of the console of a page
	said       perPage[[]string]  // what the last document of a page said when it came
	seen       perPage[string]    // the last snapshot of a page
	openers    perPage[string]    // the page that has opened a page, as acts have told it
	acted      perPage[time.Time] // when a client has acted on a page, by both
	receipts   idempotency.Store[receipt]
	turns      turns
	steps      func() (map[string]*Tool, error) // the tools of steps

	ctx  context.Context
	stop context.CancelFunc
	busy sync.WaitGroup
}

// New makes the tools, which work until Close or the end of ctx.
func New(ctx context.Context, opts Options) *Set {
	if opts.CallTimeout <= 0 {
		opts.CallTimeout = 30 * time.Second
	}
	if opts.SessionIdle <= 0 {
		opts.SessionIdle = 30 * time.Minute
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Set{opts: opts, log: opts.Logger}
	s.ctx, s.stop = context.WithCancel(ctx)
	s.sessions.init(s)
	s.steps = sync.OnceValues(s.stepTools)
	if opts.Host != nil {
		s.subscribeAnnouncements()
	}
	return s
}

// subscribeAnnouncements queues what live regions say until Close. A host whose browser is still starting lets its
// subscribers wait, clients do not.
func (s *Set) subscribeAnnouncements() {
	s.busy.Go(func() {
		defer s.opts.Host.Subscribe(func(ev runtime.Event) {
			if ev.Name == runtime.AnnouncementEvent {
				s.piggybacked.Add(ev.Tab.Workspace, ev.Payload)
			}
		})()
		<-s.ctx.Done()
	})
}

// Close closes every session and returns after all that was started has ended. The host stays open.
func (s *Set) Close(ctx context.Context) error {
	s.stop()
	err := s.sessions.closeAll(ctx)
	s.busy.Wait()
	return err
}

// mostPages bounds the pages of which something is kept.
const mostPages = 1000

// perPage keeps a value for each page handle. It is safe for concurrent use.
type perPage[V any] struct {
	mu sync.Mutex
	at map[string]V
}

func (k *perPage[V]) get(handle string) (V, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	v, ok := k.at[handle]
	return v, ok
}

func (k *perPage[V]) set(handle string, v V) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.at == nil || len(k.at) >= mostPages { // pages that were closed long ago, most of them
		k.at = map[string]V{}
	}
	k.at[handle] = v
}

func (k *perPage[V]) remove(handle string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.at, handle)
}

// Tool is one entry of the catalog.
type Tool struct {
	Name        string
	Title       string
	Description string
	// Input is the schema of the arguments as clients are told it, Output that of the result.
	Input  json.RawMessage
	Output json.RawMessage
	// Arguments is the schema that calls are checked against, where it takes more than clients are told.
	Arguments json.RawMessage
	// Reads says that the tool leaves the page as it is.
	Reads bool
	// Do runs it.
	Do func(ctx context.Context, c *Call) (*Answer, *fault.Error)

	// meaning is the schema by which arguments are read that can be meant one way only; that of the
	// calls when nil.
	meaning json.RawMessage
	// unchecked leaves the arguments to the runtime, whose profile may take
	// others than the schema declares.
	unchecked bool
	input     *schema.Schema
}

func newTool(
	name, title, description, input, output string, reads bool, do func(context.Context, *Call) (*Answer, *fault.Error),
) Tool {
	return Tool{
		Name:        name,
		Title:       title,
		Description: description,
		Input:       json.RawMessage(input),
		Output:      json.RawMessage(output),
		Reads:       reads,
		Do:          do,
	}
}

// Compile makes a tool ready for calls.
func (t *Tool) Compile() error {
	if t.Arguments == nil {
		t.Arguments = t.Input
	}
	if t.meaning == nil {
		t.meaning = t.Arguments
	}
	var err error
	t.input, err = schema.Compile(t.Arguments)
	return err
}

const (
	pageProperty    = `"page":{"type":"string","description":"default: the active page"}`
	sessionProperty = `"session":{"type":"string"}`
	timeoutProperty = `"timeout_ms":{"type":"integer","minimum":1}`
	tokensProperty  = `"max_tokens":{"type":"integer","minimum":50}`
	// pageResult is the output schema of tools whose result is about a page.
	pageResult = `{"type":"object","required":["page"]}`
)

// Core lists the tools that are always there. Limits of numbers are judged and not told: each costs
// every agent some tokens.
func (s *Set) Core() []Tool {
	tools := []Tool{
		s.siteTool(), s.tabsTool(), s.snapshotTool(), s.actTool(), s.readTool(), s.waitTool(), s.screenshotTool(),
	}
	for i := range tools {
		t := &tools[i]
		if t.Arguments == nil {
			t.Arguments = t.Input
		}
		t.Input = json.RawMessage(limits().ReplaceAllLiteral(t.Input, nil))
	}
	return tools
}

var limits = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`,"(minimum|maximum|minItems|maxItems)":[0-9]+`)
})

// Catalog is Core and what else is selected: "core" or "" is nothing more; "all" is every primitive, a tool for each
// family of names; anything else is a list of names with * as a wildcard, separated by commas, and a tool for each
// primitive that it matches.
func (s *Set) Catalog(selected string) ([]Tool, error) {
	tools := s.Core()
	patterns, err := toolPatterns(selected)
	if err != nil {
		return nil, err
	}
	if len(patterns) == 0 && selected != "all" {
		return tools, nil // reading the dictionary costs 10 ms
	}
	entries := slices.DeleteFunc(s.opts.Host.Dictionary(), func(e runtime.DictionaryEntry) bool { return e.Refused })
	if selected == "all" {
		grouped := families(entries)
		for _, family := range slices.Sorted(maps.Keys(grouped)) {
			tools = append(tools, s.familyTool(family, grouped[family]))
		}
	}
	for _, entry := range entries {
		if slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, entry.Name); return ok }) {
			tools = append(tools, s.primitiveTool(entry))
		}
	}
	return tools, nil
}

// Primitive is a primitive as a tool of its own; false where there is none of this name, or this host refuses it.
func (s *Set) Primitive(name string) (Tool, bool) {
	for _, entry := range s.opts.Host.Dictionary() {
		if entry.Name == name && !entry.Refused {
			return s.primitiveTool(entry), true
		}
	}
	return Tool{}, false
}

// toolPatterns reads which primitives are selected by their names.
func toolPatterns(selected string) ([]string, error) {
	switch selected {
	case "", "core", "all":
		return nil, nil
	}
	patterns := strings.Split(selected, ",")
	for i := range patterns {
		patterns[i] = strings.TrimSpace(patterns[i])
		if _, err := path.Match(patterns[i], ""); err != nil || patterns[i] == "" {
			return nil, fault.New(fault.InvalidInput, "%q is no pattern of tool names", patterns[i]).
				Next(`give "core", "all" or names with * as a wildcard, separated by commas`)
		}
	}
	return patterns, nil
}
