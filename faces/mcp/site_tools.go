package mcp

import (
	"encoding/json"

	"github.com/outrider-run/outrider/faces/tools"
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
	actions := s.tools.SiteActions(s.ctx)
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
		if err := s.offerAs(s.tools.ActionTool(siteToolName(a), a), name); err != nil {
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
func siteToolName(a tools.SiteAction) string { return "site." + a.Name }
