package repair

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Applied is a changed target. The action failed without the change and was done with it.
type Applied struct {
	File string
	Change
}

// WentOn returns the targets that an action used in place of those of its map, and the error
// that it would have failed with. The error is nil when it used none. When the file of one
// target is unknown the list is empty, since that change cannot be written.
func WentOn(repairs json.RawMessage, files Files, action string) (out []Applied, cause *fault.Error) {
	var all []struct {
		MapPath string          `json:"map_path"`
		Pointer string          `json:"pointer"`
		Target  json.RawMessage `json:"target"`
		Was     json.RawMessage `json:"was"`
		Step    string          `json:"step_id"`
		Cause   *fault.Error    `json:"cause"`
	}
	if len(repairs) == 0 || json.Unmarshal(repairs, &all) != nil || len(all) == 0 {
		return nil, nil
	}
	for _, w := range all {
		file, known := "", false
		if files != nil {
			file, known = files(w.MapPath)
		}
		if !known {
			return nil, all[0].Cause
		}
		out = append(out, Applied{
			file,
			Change{MapPath: w.MapPath, Pointer: w.Pointer, Target: w.Target, Was: w.Was, Who: action + ": " + w.Step},
		})
	}
	return out, all[0].Cause
}

// Maps are the maps as they could be, each change once.
func Maps(all []Applied) []Repaired {
	byFile := map[string][]Change{}
	for _, m := range all {
		if !slices.ContainsFunc(byFile[m.File], func(c Change) bool { return c.Pointer == m.Pointer }) {
			byFile[m.File] = append(byFile[m.File], m.Change)
		}
	}
	out := []Repaired{}
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		if fixed := Of(file, byFile[file]); fixed != nil {
			out = append(out, *fixed)
		}
	}
	return out
}

// Diff is how the maps would change.
func Diff(all []Applied) (diff string) {
	for _, r := range Maps(all) {
		diff += r.Diff
	}
	return diff
}

// Host is the host of a face of agents.
type Host interface {
	Do(ctx context.Context, call runtime.Call) runtime.Reply
	Tabs() []runtime.TabStatus
	NewWorkspace(ctx context.Context, opts runtime.WorkspaceOptions) (*runtime.Workspace, error)
	OpenTab(ctx context.Context, address string, active bool) (runtime.TabStatus, error)
	Subscribe(fn func(runtime.Event)) (unsubscribe func())
	Dictionary() []runtime.DictionaryEntry
}

// RepairingHost is a host whose site actions go on with an element that looks like one that is
// not found. The result says so in its member healed.
type RepairingHost struct {
	Host
	// Given are the maps, as files and as storage folders; lock files lie beside them.
	Given []string
}

// Outcome is what a result says of targets that its action went on with.
type Outcome struct {
	Steps []string `json:"steps"` // the action and the step
	Diff  string   `json:"diff"`  // of the map
}

// Do implements Host.
func (h RepairingHost) Do(ctx context.Context, call runtime.Call) runtime.Reply {
	if call.Name != runtime.SiteTool || call.Appearance != nil {
		return h.Host.Do(ctx, call)
	}
	var in struct {
		Mode   string `json:"mode"`
		Action string `json:"action"`
	}
	if json.Unmarshal(call.Arguments, &in) != nil || in.Mode != "call" {
		return h.Host.Do(ctx, call)
	}
	if locks, err := LocksOf(h.Given); err == nil && len(locks) > 0 {
		if raw, err := json.Marshal(locks); err == nil {
			call.Appearance = &runtime.Appearance{Locks: raw}
		}
	}
	reply := h.Host.Do(ctx, call)
	wentOn, cause := WentOn(reply.Repairs, FilesOf(h.Given), in.Action)
	if cause == nil || reply.Err != nil {
		return reply
	}
	outcome := Outcome{Steps: []string{}, Diff: Diff(wentOn)}
	for _, m := range wentOn {
		outcome.Steps = append(outcome.Steps, m.Who)
	}
	return said(reply, outcome)
}

// said is a reply whose result has what was healed as a member: the value of an envelope,
// where it has one. Another value than an object becomes its member result.
func said(reply runtime.Reply, outcome Outcome) runtime.Reply {
	with, err := member(reply.Value(), "healed", outcome)
	if err != nil {
		reply.Output, reply.Err = nil, fault.Wrap(fault.Internal, err, "saying what was healed")
		return reply
	}
	return reply.WithValue(with)
}

// member is an object with a member more.
func member(object json.RawMessage, name string, v any) (json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	if json.Unmarshal(object, &out) != nil || out == nil {
		out = map[string]json.RawMessage{"result": object}
	}
	var err error
	out[name], err = json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}
