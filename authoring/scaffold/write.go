package scaffold

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Files of a first map.
const (
	mapFile  = "actions.json"
	planFile = "plan.yaml"
)

// Written is what Init gave, and the files that hold it.
type Written struct {
	OK     bool     `json:"ok"`
	Files  []string `json:"files"`
	Report Report   `json:"report"`
}

// InitInto is Init with its files written into a folder, also what it had when it was ended.
func InitInto(ctx context.Context, h Host, o Options, dir string, force bool) (Written, error) {
	result, ended := Init(ctx, h, o)
	if result == nil {
		return Written{}, ended
	}
	files, err := result.Write(dir, force)
	return Written{OK: err == nil && ended == nil, Files: files, Report: result.Report}, errors.Join(ended, err)
}

// Print shows the report and the files.
func (r Written) Print(w io.Writer) {
	r.Report.Print(w)
	for _, f := range r.Files {
		fmt.Fprintf(w, "wrote      %s\n", report.Printable(f))
	}
}

// Write writes the map and the plan into a folder. Files that are there are kept unless
// force is given.
func (r *Result) Write(dir string, force bool) ([]string, error) {
	text, err := r.Map.Encode()
	if err != nil {
		return nil, err
	}
	return WriteInto(dir, force, text, r.Plan)
}

// Free reports whether the files of a first map may be written into a folder.
func Free(dir string, force bool) error {
	for _, name := range []string{mapFile, planFile} {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); err == nil && !force {
			return fault.New(fault.InvalidInput, "%s is there already: --force replaces it", path)
		}
	}
	return nil
}

// WriteInto writes a map and a plan into a folder. Files that are there are kept unless
// force is given.
func WriteInto(dir string, force bool, text, plan []byte) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the folder of the map: %w", err)
	}
	if err := Free(dir, force); err != nil {
		return nil, err
	}
	out := []string{filepath.Join(dir, mapFile), filepath.Join(dir, planFile)}
	how := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if !force {
		how = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	}
	for i, content := range [][]byte{text, plan} {
		f, err := os.OpenFile(out[i], how, 0o644)
		if err == nil {
			_, err = f.Write(content)
			if e := f.Close(); err == nil {
				err = e
			}
		}
		if err != nil {
			return out[:i], fmt.Errorf("writing %s: %w", out[i], err)
		}
	}
	return out, nil
}

// Print shows what was written and what was left out.
func (r Report) Print(w io.Writer) {
	for _, part := range []struct {
		kind string
		kept []Kept
	}{{"action", r.Actions}, {"projection", r.Projections}, {"state", r.States}, {"transition", r.Transitions}} {
		for _, k := range part.kept {
			line := fmt.Sprintf("%-10s %s", part.kind, report.Printable(k.Name))
			if k.Note != "" {
				line += ": " + report.Printable(k.Note)
			}
			fmt.Fprintln(w, line)
		}
	}
	for _, e := range r.LeftOut {
		fmt.Fprintf(w, "left out   %s %s: %s\n", e.Kind, report.Printable(e.Name), report.Printable(e.Reason))
	}
}
