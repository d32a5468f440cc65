package learn

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/call"
)

// Ask are the arguments of mode learn.
type Ask struct {
	Mode   string `json:"mode"`
	Name   string `json:"name,omitempty"`
	Action string `json:"action,omitempty"` // the name, as clients write it too
	Calls  int    `json:"calls,omitempty"`
	Start  string `json:"start,omitempty"`
	Save   bool   `json:"save,omitempty"`
}

// Mode answers mode learn of actions.site from the last calls.
type Mode struct {
	// Calls are those that are remembered.
	Calls func() []record.Call
	Options
	// Storage is where actions are saved; "" saves none.
	Storage string
}

// StorageOf is the storage folder among the maps, "" for none.
func StorageOf(maps []string) string {
	for _, m := range maps {
		if info, err := os.Stat(filepath.Join(m, "scopes")); err == nil && info.IsDir() {
			return m
		}
	}
	return ""
}

// Answer answers mode learn, see runtime.Options.Remembered.
func (m Mode) Answer(
	ctx context.Context, h *runtime.Host, tab runtime.TabStatus, arguments json.RawMessage,
) runtime.Reply {
	var in Ask
	if err := json.Unmarshal(arguments, &in); err != nil {
		return runtime.Reply{Err: fault.New(fault.InvalidInput, "the arguments of mode learn cannot be read")}
	}
	if in.Save && m.Storage == "" {
		return runtime.Reply{Err: fault.New(
			fault.CapabilityUnavailable, "no storage folder is open to save actions in",
		).Next("start the runtime with --maps and a storage folder, or ask without save")}
	}
	calls := OfTab(m.Calls(), tab.TabID)
	if in.Calls > 0 && in.Calls < len(calls) {
		calls = calls[len(calls)-in.Calls:]
	}
	if len(calls) == 0 {
		return runtime.Reply{Err: fault.New(fault.InvalidInput, "no call of this tab is remembered")}
	}
	o := m.Options
	o.Name, o.Start = in.Name, in.Start
	if o.Name == "" {
		o.Name = in.Action
	}
	learned, err := Learn(ctx, h, [][]record.Call{calls}, o)
	if err != nil {
		return runtime.Reply{Err: fault.From(err)}
	}
	out := struct {
		*Learned
		Saved *Saved `json:"saved,omitempty"`
	}{Learned: learned}
	if in.Save {
		saved, err := learned.Save(m.Storage)
		if err != nil {
			return runtime.Reply{Err: fault.From(err)}
		}
		out.Saved = &saved
	}
	return call.Encoded(out)
}
