package plan

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/outrider-run/outrider/authoring/repair"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/checks"
)

// ActionResult is how one site action ended.
type ActionResult struct {
	OK         bool              `json:"ok"`
	Action     string            `json:"action"`
	RuntimeID  string            `json:"runtime_id"`
	URL        string            `json:"url"`
	Output     json.RawMessage   `json:"output,omitempty"`
	Error      *fault.Error      `json:"error,omitempty"`
	Steps      json.RawMessage   `json:"steps,omitempty"`
	DurationMS int64             `json:"duration_ms"`
	Artifacts  map[string]string `json:"artifacts,omitempty"`
	// Healed is the change of a map with which the action was done, as a diff. It is set when
	// the run repairs targets and the action had failed without the change.
	Healed string `json:"healed,omitempty"`
	// Repairs are the maps as they could be, and Locks the lock files that were written.
	Repairs []repair.Repaired `json:"repairs,omitempty"`
	Locks   []string          `json:"locks,omitempty"`
}

// Action runs one site action on the first tab of the host, with a picture of
// the page after it when there is a folder for artifacts.
func Action(ctx context.Context, h Host, name string, arguments json.RawMessage, o Options) ActionResult {
	result := ActionResult{Action: name}
	call, err := runtime.Site{Mode: runtime.SiteCall, Action: name, Arguments: arguments}.JSON()
	if err != nil {
		result.Error = fault.From(err)
		return result
	}
	on := firstTab(h)
	reply := h.Do(ctx, runtime.Call{
		ID:         o.NewID(),
		Target:     on,
		Name:       runtime.SiteTool,
		Arguments:  call,
		Timeout:    o.CallTimeout,
		Appearance: o.appearance(true),
	})
	result.OK = reply.Err == nil
	result.RuntimeID = reply.RuntimeID
	result.URL = reply.URL
	result.Output = reply.Output
	result.Error = reply.Err
	result.Steps = reply.Steps
	result.DurationMS = reply.Duration.Milliseconds()
	result.addRepairs(reply, o)
	if o.Artifacts != "" {
		if path, err := screenshot(context.WithoutCancel(ctx), h, on, o, name); err != nil {
			o.warn("no screenshot: %w", err)
		} else {
			result.Artifacts = map[string]string{"screenshot": path}
		}
	}
	return result
}

// addRepairs adds to the result the targets that the action used in place of those of its map, and
// what its steps found.
func (r *ActionResult) addRepairs(reply runtime.Reply, o Options) {
	var seen []checks.Remembered
	if len(reply.Remembered) > 0 && json.Unmarshal(reply.Remembered, &seen) == nil {
		locks, err := repair.UpdateLocks(seen, o.Maps, o.Warn)
		if err != nil {
			o.warn("%w", err)
		}
		r.Locks = locks
	}
	wentOn, cause := repair.WentOn(reply.Repairs, o.Maps, r.Action)
	if cause == nil || reply.Err != nil {
		return
	}
	r.Repairs = repair.Maps(wentOn)
	if o.Heal && len(wentOn) > 0 {
		r.Healed = repair.Diff(wentOn)
		return
	}
	r.OK, r.Error = false, cause // with this map it fails
}

// screenshot saves what the tab shows, with outlines where there are any, and returns the
// file's path.
func screenshot(
	ctx context.Context, h Host, on runtime.Target, o Options, name string, outlines ...report.Box,
) (string, error) {
	if err := o.Folder.MkdirAll(o.Artifacts, 0o755); err != nil {
		return "", err
	}
	reply := h.Do(ctx, runtime.Call{
		ID:        o.NewID(),
		Target:    on,
		Name:      "browser.screenshot",
		Arguments: json.RawMessage(`{"format":"png"}`),
		Timeout:   o.CallTimeout,
	})
	if reply.Err != nil {
		return "", reply.Err
	}
	path := filepath.Join(o.Artifacts, name+".png")
	if shot := report.ReadScreenshot(reply.Value()); shot != nil && len(outlines) > 0 {
		shot.Outlines = outlines
		content, _, err := shot.Outlined()
		if err == nil {
			err = o.Folder.WriteFile(path, content, 0o644)
		}
		return path, err
	}
	if _, err := SaveImage(reply.Output, o.Folder, path); err != nil {
		return "", err
	}
	return path, nil
}

// SaveImage writes the data_url of a result to path in a folder and puts the path
// in its place.
func SaveImage(raw json.RawMessage, to report.Folder, path string) (json.RawMessage, error) {
	var result map[string]any
	if err := json.Unmarshal(raw, &result); err != nil {
		return nil, fmt.Errorf("reading the result: %w", err)
	}
	holder := result
	if v, ok := result["value"].(map[string]any); ok {
		holder = v
	}
	url, _ := holder["data_url"].(string)
	_, encoded, ok := strings.Cut(url, ";base64,")
	if !ok {
		return nil, errors.New("the result holds no image")
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, fmt.Errorf("decoding the image: %w", err)
	}
	if err := to.WriteFile(path, data, 0o644); err != nil {
		return nil, err
	}
	delete(holder, "data_url")
	holder["saved_to"] = path
	return json.Marshal(result)
}
