package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/outrider-run/outrider/authoring/edit"
	"github.com/outrider-run/outrider/authoring/lock"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/location"
)

// Repaired is a map file as it could be, and the checks that pass with it.
type Repaired struct {
	File   string   `json:"file"`
	Checks []string `json:"checks"`
	Diff   string   `json:"diff"`

	before, after []byte
	maps          []string // paths by which results call the file
}

// MapFiles finds the file of a map by the path that results call it by.
type MapFiles func(mapPath string) (file string, ok bool)

// FilesOf is for maps that were given as files and as storage folders.
func FilesOf(given []string) MapFiles {
	return func(mapPath string) (string, bool) {
		for _, g := range given {
			info, err := os.Stat(g)
			switch {
			case err != nil:
			case !info.IsDir() && (g == mapPath || filepath.ToSlash(filepath.Clean(g)) == mapPath || filepath.Base(g) == mapPath || sites.ShownPath(g) == mapPath):
				return g, true
			case info.IsDir() && filepath.IsLocal(filepath.FromSlash(mapPath)):
				file := filepath.Join(g, filepath.FromSlash(mapPath))
				if info, err := os.Stat(file); err == nil && !info.IsDir() {
					return file, true
				}
			}
		}
		return "", false
	}
}

// change is one target of one map in other words, for the sake of a check.
type change struct {
	mapPath, pointer string
	target           json.RawMessage
}

// Repair proposes changes of the maps whose checks failed or drifted. Each was
// verified: the check was run again, on the same page, with the changed map.
func (c Checked) Repair(ctx context.Context, h Host, x Expectations, files MapFiles, o Options) ([]Repaired, error) {
	byFile := map[string]*Repaired{}
	for i, p := range c.Pages {
		if !slices.ContainsFunc(p.Checks, func(k report.Check) bool { return k.Status == "failed" || k.Status == "drifted" }) {
			continue
		}
		p, err := c.withRepairs(ctx, h, x, c.tabs[i], p, files, o)
		if err != nil {
			return nil, err
		}
		for _, k := range p.Checks {
			changes := changesFor(k)
			file, ok := files(k.MapPath)
			// The check is run with its own map alone, so a target of another map cannot
			// be verified.
			if len(changes) == 0 || !ok || slices.ContainsFunc(changes, func(ch change) bool { return ch.mapPath != k.MapPath }) {
				continue
			}
			r := byFile[file]
			if r == nil {
				text, err := os.ReadFile(file)
				if err != nil {
					return nil, fault.Wrap(fault.StorageFileReadFailed, err, "reading the map").With("path", file)
				}
				r = &Repaired{File: file, before: text, after: text}
				byFile[file] = r
			}
			next := r.after
			for _, ch := range changes {
				if next, err = edit.Replace(next, ch.pointer, ch.target); err != nil {
					return nil, err
				}
			}
			good, err := passes(ctx, h, x, c.tabs[i], k, next, o)
			if err != nil {
				return nil, err
			}
			if good {
				r.after, r.Checks, r.maps = next, append(r.Checks, k.ID), append(r.maps, k.MapPath)
			}
		}
	}
	out := []Repaired{}
	for file, r := range byFile {
		if len(r.Checks) == 0 {
			continue
		}
		r.Diff = diffOf(file, r.before, r.after)
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b Repaired) int { return bytes.Compare([]byte(a.File), []byte(b.File)) })
	return out, nil
}

// diffOf is the unified difference of a file.
func diffOf(file string, before, after []byte) string {
	name := filepath.ToSlash(file)
	text := diff.Diff("a/"+name, before, "b/"+name, after)
	if i := bytes.IndexByte(text, '\n'); bytes.HasPrefix(text, []byte("diff ")) && i >= 0 {
		text = text[i+1:]
	}
	return string(text)
}

// withRepairs is a page checked again with what its lock files remember; the page
// itself where there are none.
func (c Checked) withRepairs(ctx context.Context, h Host, x Expectations, tab runtime.Target, p report.Page, files MapFiles, o Options) (report.Page, error) {
	locks := map[string]*lock.File{}
	for _, path := range p.Maps {
		file, ok := files(path)
		if !ok {
			continue
		}
		f, err := lock.Read(lock.PathOf(file))
		if err != nil {
			return p, err
		}
		if len(f.Targets) > 0 {
			locks[path] = f
		}
	}
	if len(locks) == 0 {
		return p, nil
	}
	x.locks, x.Settle = locks, 0
	return checkPage(ctx, h, x, tab, nil, o)
}

// changesFor are the changes that could make a check pass.
func changesFor(k report.Check) []change {
	var out []change
	add := func(mapPath, pointer string, target json.RawMessage) {
		if pointer != "" && !slices.ContainsFunc(out, func(c change) bool { return c.mapPath == mapPath && c.pointer == pointer }) {
			out = append(out, change{mapPath, pointer, target})
		}
	}
	if k.Status == "failed" {
		for _, r := range k.Repairs {
			add(r.MapPath, r.Pointer, r.Target)
		}
	}
	if k.Status == "drifted" {
		for _, d := range k.Drift {
			add(d.MapPath, d.Pointer, d.Proposal)
		}
	}
	return out
}

// verifiedAt is the path of a map that is verified. It applied to the page already, and
// where its file lies can say that it is for another page, so it is one for every page.
// A map of others keeps its path, which says what it may do.
func verifiedAt(mapPath string) string {
	if loc, ok := location.Locate(mapPath); ok && (loc.Scope == location.Shared || loc.Scope == location.Public) {
		return mapPath
	}
	return "actions.json"
}

// passes runs the checks of a map and says whether the one at the same place passes.
func passes(ctx context.Context, h Host, x Expectations, tab runtime.Target, k report.Check, text []byte, o Options) (bool, error) {
	x.Remember, x.locks = false, nil
	p, err := checkPage(ctx, h, x, tab, &runtime.SuppliedMap{Path: verifiedAt(k.MapPath), JSON: bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))}, o)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(p.Checks, func(again report.Check) bool { return again.Pointer == k.Pointer && again.Status == "passed" }), nil
}

// Apply writes the map, unless somebody changed it meanwhile.
func (r Repaired) Apply() error {
	text, err := os.ReadFile(r.File)
	if err == nil && !bytes.Equal(text, r.before) {
		return fault.New(fault.InvalidInput, "the map %s changed while it was checked: check it again", r.File)
	}
	if err == nil {
		err = replaceFile(r.File, r.after)
	}
	if err != nil {
		return fmt.Errorf("writing the map %s: %w", r.File, err)
	}
	return nil
}

// PrintRepairs shows what was written, and each repair as a diff.
func (c Checked) PrintRepairs(w io.Writer, applied bool) {
	PrintRepairs(w, c.Locks, c.Repairs, applied)
}

// PrintRepairs shows lock files that were written, and each repair as a diff.
func PrintRepairs(w io.Writer, locks []string, repairs []Repaired, applied bool) {
	for _, path := range locks {
		fmt.Fprintf(w, "lock    %s\n", report.Printable(path))
	}
	for _, r := range repairs {
		word, next := "repair ", ": it passes with this change, which --fix writes"
		if applied {
			word, next = "fixed  ", ""
		}
		fmt.Fprintf(w, "%s %s  %s%s\n", word, report.Printable(r.File), report.Printable(strings.Join(r.Checks, ", ")), next)
		for line := range strings.Lines(r.Diff) {
			parts := strings.Split(strings.TrimRight(line, "\r\n"), "\t") // a patch keeps its tabs
			for i := range parts {
				parts[i] = report.Printable(parts[i])
			}
			fmt.Fprintln(w, strings.Join(parts, "\t"))
		}
	}
}

// UpdateLocks writes what the checks found into the lock files beside their maps. It
// returns the files that changed.
func (c Checked) UpdateLocks(files MapFiles) ([]string, error) {
	var seen []report.Remembered
	for _, p := range c.Pages {
		for _, k := range p.Checks {
			seen = append(seen, k.Remembered...)
		}
	}
	return updateLocks(seen, files)
}

func updateLocks(remembered []report.Remembered, files MapFiles) ([]string, error) {
	seen := map[string][]lock.Entry{}
	for _, r := range remembered {
		if file, ok := files(r.MapPath); ok {
			seen[lock.PathOf(file)] = append(seen[lock.PathOf(file)], r.Entry)
		}
	}
	changed := []string{}
	for path, entries := range seen {
		f, err := lock.Read(path)
		if err != nil {
			return changed, err
		}
		f.Merge(entries)
		text, err := f.Encode()
		if err != nil {
			return changed, err
		}
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
			continue
		}
		if err := replaceFile(path, text); err != nil {
			return changed, fmt.Errorf("writing the lock file %s: %w", path, err)
		}
		changed = append(changed, path)
	}
	slices.Sort(changed)
	return changed, nil
}

// replaceFile writes a file whole or not at all, with the mode that it had.
func replaceFile(path string, text []byte) error {
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".outrider-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if e := f.Chmod(mode); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
