package mcp

import (
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// maxSiteTools bounds the actions of one site that become tools.
const maxSiteTools = 64

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

// refreshSiteTools offers what the site has now. before and the result say which actions are
// offered, and how.
func (s *Server) refreshSiteTools(before map[string]string) map[string]string {
	actions := s.siteActions()
	if len(actions) > maxSiteTools {
		s.log.Warn(
			"the site has more actions than are offered as tools; actions_site has all", "actions",
			len(actions), "tools", maxSiteTools,
		)
		actions = actions[:maxSiteTools]
	}
	own := make([]string, len(actions))
	for i, a := range actions {
		own[i] = siteToolName(a)
	}
	names := listedNames(own, func(name string) bool { return s.own[name] })
	now := map[string]string{} // by listed name
	for _, a := range actions {
		name := names[siteToolName(a)]
		as, err := json.Marshal(a)
		if err != nil {
			continue
		}
		if before[name] == string(as) {
			now[name] = string(as)
			continue
		}
		if err := s.offerSiteTool(a, name); err != nil {
			s.log.Warn("an action cannot be offered as a tool", "action", a.Name, "error", err)
			continue
		}
		now[name] = string(as)
	}
	var gone []string
	for name := range before {
		if _, still := now[name]; !still {
			gone = append(gone, name)
			s.names.remove(name)
		}
	}
	if len(gone) > 0 {
		s.server.RemoveTools(gone...)
	}
	return now
}

// siteToolName is the name of the protocol for an action as a tool of its own.
func siteToolName(a siteAction) string { return "site." + a.Name }

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

func (s *Server) offerSiteTool(a siteAction, name string) error {
	if len(a.InputSchema) == 0 {
		a.InputSchema = json.RawMessage(`{"type":"object"}`)
	}
	description := strings.TrimSpace("Action of the site's map, described by it: " + a.Description)
	t := newTool(siteToolName(a), description, string(portable(a.InputSchema)), pageResult, sdk.ToolAnnotations{},
		func(ctx context.Context, c *call) (*answer, *fault.Error) {
			return c.on(ctx, where{}, func(p page) (*answer, *fault.Error) {
				args := runtime.Site{Mode: runtime.SiteCall, Action: a.Name, Arguments: c.args}
				value, r, err := c.do(ctx, p, runtime.SiteTool, args, where{})
				if err != nil {
					return nil, err
				}
				out := about(p, r, value)
				encoded, _ := json.Marshal(out)
				return &answer{Result: out, Text: labelled(p, r.URL, s.mark(), string(encoded))}, nil
			})
		})
	t.arguments = a.InputSchema
	return s.offerAs(&t, name)
}
