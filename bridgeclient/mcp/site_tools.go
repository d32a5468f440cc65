package mcp

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/schema"
	"github.com/outrider-run/outrider/runtime"
)

// maxSiteTools bounds the actions of one site that become tools.
const maxSiteTools = 64

var toolName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,120}$`) })

// offerSiteTools keeps a tool per action of the active page's site: after every
// change of the runtime's own tabs the list is made anew, and clients are notified
// when it differs.
func (s *Server) offerSiteTools() {
	changed := make(chan struct{}, 1)
	changed <- struct{}{}
	s.busy.Go(func() {
		defer s.opts.Host.Subscribe(func(ev runtime.Event) {
			if ev.Kind == runtime.DOMEvent || ev.Tab.Workspace != "" {
				return
			}
			select {
			case changed <- struct{}{}:
			default:
			}
		})()
		offered := map[string]string{} // name -> what was offered
		for {
			select {
			case <-changed:
				offered = s.refreshSiteTools(offered)
			case <-s.ctx.Done():
				return
			}
		}
	})
}

// refreshSiteTools offers what the site has now. before and the result say
// under which names, and how.
func (s *Server) refreshSiteTools(before map[string]string) map[string]string {
	now := map[string]string{}
	for _, a := range s.siteActions() {
		name := "site." + a.Name
		if !toolName().MatchString(name) || len(now) == maxSiteTools {
			continue
		}
		as, _ := json.Marshal(a)
		now[name] = string(as)
		if before[name] == now[name] {
			continue
		}
		if t, err := s.siteActionTool(name, a); err == nil {
			s.server.AddTool(t.Tool, s.handler(t))
		} else {
			s.log.Warn("an action cannot be offered as a tool", "action", a.Name, "error", err)
		}
	}
	var gone []string
	for name := range before {
		if _, still := now[name]; !still {
			gone = append(gone, name)
		}
	}
	if len(gone) > 0 {
		s.server.RemoveTools(gone...)
	}
	return now
}

// siteAction is an entry of the list of actions.site.
type siteAction struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

func (s *Server) siteActions() []siteAction {
	listed, err := s.ask(s.ctx, "", runtime.SiteTool, `{"mode":"list"}`)
	if err != nil {
		return nil
	}
	var out struct {
		Actions []siteAction `json:"actions"`
		Tools   []siteAction `json:"tools"`
	}
	raw, _ := listed.(json.RawMessage)
	_ = json.Unmarshal(raw, &out)
	return append(out.Actions, out.Tools...)
}

func (s *Server) siteActionTool(name string, a siteAction) (tool, error) {
	if len(a.InputSchema) == 0 {
		a.InputSchema = json.RawMessage(`{"type":"object"}`)
	}
	description := strings.TrimSpace("Action of the site's map, described by it: " + a.Description)
	t := newTool(name, description, string(a.InputSchema), pageResult, sdk.ToolAnnotations{},
		func(ctx context.Context, c *call) (*answer, *fault.Error) {
			return c.on(where{}, func(p page) (*answer, *fault.Error) {
				value, r, err := c.do(ctx, p, runtime.SiteTool, map[string]any{"mode": "call", "action": a.Name, "arguments": c.args}, where{})
				if err != nil {
					return nil, err
				}
				out := about(p, r, value)
				encoded, _ := json.Marshal(out)
				return &answer{Result: out, Text: labelled(p, r.URL, s.mark(), string(encoded))}, nil
			})
		})
	var err error
	t.input, err = schema.Compile(a.InputSchema)
	return t, err
}
