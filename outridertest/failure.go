package outridertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/outrider-run/outrider"
	"github.com/outrider-run/outrider/client"
)

// explain is an error with what it knows of the nearest elements.
func explain(err error) string {
	var e *outrider.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	text := e.Error()
	if e.NextStep != "" {
		text += "; " + e.NextStep
	}
	return text + nearest(e.Evidence)
}

// nearest says the names that come near, or how many each part of the locator left.
func nearest(looked map[string]any) string {
	var out string
	for _, member := range []string{"nearest", "candidates", "occluded_by", "reason"} {
		if value, ok := looked[member]; ok && value != nil {
			raw, err := json.Marshal(value)
			if err == nil && string(raw) != "[]" {
				out += fmt.Sprintf("\n\t%s: %s", member, raw)
			}
		}
	}
	return out
}

// keepAll writes what a page shows into a folder.
func keepAll(ctx context.Context, tab *outrider.Tab, dir string) (failed []error) {
	write := func(name string, data []byte, err error) {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o644)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
		}
	}
	picture, err := tab.Screenshot(ctx)
	write("page.png", picture, err)
	text, err := tab.Snapshot(ctx)
	write("page.txt", []byte(text), err)

	var lines strings.Builder
	console, err := client.ConsoleList(ctx, tab, client.ConsoleListArgs{Limit: 1000})
	if err == nil {
		for _, e := range console.Entries {
			fmt.Fprintf(&lines, "%s %s %s (%s:%d)\n", e.At, e.Level, e.Text, e.URL, e.Line)
		}
	}
	write("console.txt", []byte(lines.String()), err)
	lines.Reset()
	requests, err := client.NetworkList(ctx, tab, client.NetworkListArgs{Limit: 1000})
	if err == nil {
		for _, e := range requests.Entries {
			fmt.Fprintf(&lines, "%s %s %d %s %s %.0f ms %s\n",
				e.StartedAt, e.Method, e.Status, e.State, e.URL, e.DurationMS, e.Failure)
		}
	}
	write("requests.txt", []byte(lines.String()), err)
	return failed
}

// convert decodes a value that was decoded loosely into a result of another type.
func convert(value, result any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, result)
}
