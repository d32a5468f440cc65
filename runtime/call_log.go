package runtime

import (
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/runtime/calllog"
)

// logCall remembers one answered call for runtime.session.log.
func (t *Tab) logCall(c Call, reply Reply, began time.Time) {
	status := t.Status()
	_, primitive := t.host.opts.Registry.Lookup(c.Name)
	t.stores().Calls.Add(calllog.Answered{
		RuntimeID: status.RuntimeID, TabID: t.id, URL: status.URL, Name: c.Name, Arguments: c.Arguments, Own: !primitive && c.Name != SiteTool,
		Steps: reply.Steps, Err: reply.Err, Began: began,
	})
}

// CallEvents implements session.CallLog.
func (s session) CallEvents(limit int) (events []json.RawMessage, held, dropped int) {
	return s.tab.stores().Calls.Events(limit)
}

// NameSession implements session.CallLog.
func (s session) NameSession(name string) { s.tab.stores().Calls.SetName(name) }

// SessionName implements session.CallLog.
func (s session) SessionName() string { return s.tab.stores().Calls.Name() }
