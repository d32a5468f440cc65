package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/outrider-run/outrider/evidence/outline"
	"github.com/outrider-run/outrider/evidence/picture"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// UpdateFlag is the flag that keeps what screenshots and snapshots are compared with.
const UpdateFlag = "--update-snapshots"

// described is a Session that says which browser it has.
type described interface{ Info() runtime.Info }

// locatorOf is the target of an expectation as primitives name it, nil for none.
func locatorOf(e spec.Expectation) map[string]any {
	switch t := e.Target.(type) {
	case string:
		return map[string]any{"selector": t}
	case map[string]any:
		out := map[string]any{}
		for name, v := range t {
			switch list, isList := v.([]any); {
			case name == "fallback_selectors":
				out["fallback"] = v
			case (name == "selectors" || name == "selector") && isList && len(list) > 0:
				out["selector"] = list[0]
			case name != "notes" && name != "state":
				out[name] = v
			}
		}
		return out
	}
	return nil
}

// screenshotArguments are those of browser.screenshot for an expectation.
func screenshotArguments(e spec.Expectation, within time.Duration) ([]byte, error) {
	in := map[string]any{"stable": true, "capture_timeout_ms": max(within, 2*time.Second).Milliseconds()}
	if l := locatorOf(e); l != nil {
		in["locator"] = l
	}
	if e.Region != nil {
		in["clip"] = e.Region
	}
	if e.FullPage {
		in["full_page"] = true
	}
	if len(e.Mask) > 0 {
		in["mask"] = e.Mask
	}
	return json.Marshal(in)
}

// picture takes the screenshot of an expectation.
func (r *run) picture(ctx context.Context, at place, e spec.Expectation, within time.Duration) ([]byte, error) {
	arguments, err := screenshotArguments(e, within)
	if err != nil {
		return nil, err
	}
	reply := at.session.Do(ctx, runtime.Call{
		ID:        r.o.NewID(),
		Target:    at.target,
		Name:      "browser.screenshot",
		Arguments: arguments,
		Timeout:   within + r.o.CallTimeout,
		OwnWords:  true,
	})
	if reply.Err != nil {
		return nil, reply.Err
	}
	shot := report.ReadScreenshot(reply.Value())
	if shot == nil {
		return nil, fault.New(fault.ScreenshotCaptureFailed, "the browser gave no picture")
	}
	file, _, err := shot.Outlined()
	return file, err
}

var notOfFiles = lazyregexp.New(`[^a-z0-9]+`)

// kept is where the screenshot of an expectation is kept.
func (r *run) kept(at place, e spec.Expectation, result StepResult) picture.Kept {
	plan := result.at.File
	if plan == "" {
		plan = r.c.Plan.Path()
	}
	key := "unknown"
	if d, ok := at.session.Session.(described); ok {
		info := d.Info()
		key = picture.Key(info.Browser, info.Shell)
	}
	if m := r.c.Combination; m != nil { // each looks in its own way
		key = strings.Trim(notOfFiles().ReplaceAllString(strings.ToLower(m.String()), "-"), "-") + "." + key
	}
	return picture.Kept{Folder: picture.FolderOf(plan), Name: e.Screenshot, Key: key}
}

// looks is why the page does not look like the screenshot that was kept.
func (r *run) looks(
	ctx context.Context, at place, e spec.Expectation, result *StepResult, within time.Duration,
) []report.Failure {
	kept := r.kept(at, e, *result)
	want, err := kept.Read(UpdateFlag)
	if err != nil && !r.o.UpdateSnapshots {
		return []report.Failure{{Message: "screenshot: " + err.Error(), Expected: "screenshot " + e.Screenshot}}
	}
	var got []byte
	var d picture.Difference
	why := r.poll(ctx, at, within, func() (string, bool) {
		var err error
		got, err = r.picture(ctx, at, e, within)
		if err != nil {
			return "screenshot " + e.Screenshot + ": " + errorText(err), isPermanent(err)
		}
		if want == nil {
			return "", true
		}
		d, err = picture.Compare(want, got, picture.Tolerance(e.Tolerance))
		switch {
		case err != nil:
			return "screenshot " + e.Screenshot + ": " + err.Error(), true
		case d.Equal():
			return "", true
		}
		return fmt.Sprintf("screenshot %s: %s", e.Screenshot, d), r.o.UpdateSnapshots
	})
	switch {
	case why == "" && want != nil:
		return nil
	case got == nil:
		return []report.Failure{{Message: why}}
	case r.o.UpdateSnapshots:
		if err := kept.Write(got); err != nil {
			return []report.Failure{{Message: "the screenshot cannot be kept: " + err.Error()}}
		}
		result.Updated = append(result.Updated, filepath.ToSlash(kept.Path()))
		return nil
	}
	compared := report.NewComparison(e.Screenshot, want, got, d.PNG())
	if r.o.Artifacts != "" {
		name := fmt.Sprintf("%02d-%s", r.number, e.Screenshot)
		compared.Write(r.o.Folder, filepath.Join(r.o.Artifacts, name), r.o.warn)
	}
	return []report.Failure{{
		Message:  why + " from " + filepath.ToSlash(kept.Path()),
		Expected: "screenshot " + e.Screenshot,
		Found:    d.String(),
		Compared: compared,
	}}
}

// outlineOf is the outline of the target of an expectation, or of the page.
func (r *run) outlineOf(ctx context.Context, at place, e spec.Expectation) ([]*outline.Node, error) {
	in := map[string]any{"max_bytes": 2_000_000, "max_nodes": 20_000}
	if l := locatorOf(e); l != nil {
		in["locator"] = l
	}
	arguments, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	var page struct{ Text string }
	if err := r.value(ctx, at, "page.snapshot", string(arguments), &page); err != nil {
		return nil, err
	}
	return outline.Parse(page.Text, false)
}

// outlined is why the outline of the page has not the rows that are expected.
func (r *run) outlined(
	ctx context.Context, at place, e spec.Expectation, result *StepResult, within time.Duration,
) []report.Failure {
	want, err := outline.Parse(e.Snapshot, true)
	if err != nil {
		return []report.Failure{{Message: "the snapshot cannot be read: " + err.Error()}}
	}
	var got []*outline.Node
	var d *outline.Difference
	why := r.poll(ctx, at, within, func() (string, bool) {
		var err error
		got, err = r.outlineOf(ctx, at, e)
		if err != nil {
			return "snapshot: " + errorText(err), isPermanent(err)
		}
		d = outline.Match(want, got)
		if d == nil {
			return "", true
		}
		found := "there is none like it"
		if d.Nearest != "" {
			found = "the nearest row is " + d.Nearest
		}
		return fmt.Sprintf("snapshot: row %d, %s: %s", d.Line, d.Wanted, found), r.o.UpdateSnapshots
	})
	switch {
	case why == "":
		return nil
	case d == nil:
		return []report.Failure{{Message: why}}
	case r.o.UpdateSnapshots:
		if err := updateSnapshot(result.at, e.Snapshot, outline.Write(got)); err != nil {
			return []report.Failure{{Message: why + "; " + err.Error()}}
		}
		result.Updated = append(result.Updated, result.at.String())
		return nil
	}
	return []report.Failure{{Message: why, Expected: strings.TrimSpace(d.Wanted), Found: d.Nearest}}
}
