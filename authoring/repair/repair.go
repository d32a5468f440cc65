// Package repair writes what was found instead of the targets of maps: as a diff of a map, into the map, into the lock
// file beside it. It does not look for elements: the runtime proposes them. Checks, runs of plans and of actions, and
// the faces of agents call it.
package repair

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/outrider-run/outrider/evidence/outfile"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/internal/element/lock"
	edit "github.com/outrider-run/outrider/internal/mapedit"
	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/checks"
	"github.com/outrider-run/outrider/sites"
)

// Repaired is a map file as it could be, and the checks that pass with it.
type Repaired struct {
	File   string   `json:"file"`
	Checks []string `json:"checks"`
	Diff   string   `json:"diff"`
	// Proposed is that of an assertion. Nobody has shown that it can fail with the change, so it is never
	// written, and no result is good with it: somebody has to read it.
	Proposed bool `json:"proposed,omitempty"`
	// Refused says why the file is not changed.
	Refused string `json:"refused,omitempty"`

	before, after []byte
	maps          []string // paths by which results call the file, one for each of Checks
	unwritten     bool     // Apply could not write it
}

// Files finds the file of a map by the path that results call it by.
type Files func(mapPath string) (file string, ok bool)

// FilesOf is for maps that were given as files and as storage folders.
func FilesOf(given []string) Files {
	return func(mapPath string) (string, bool) {
		for _, g := range given {
			info, err := os.Stat(g)
			switch {
			case err != nil:
			case !info.IsDir() && (g == mapPath || filepath.ToSlash(filepath.Clean(g)) == mapPath ||
				filepath.Base(g) == mapPath || sites.ShownPath(g) == mapPath):
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

// Change is one target of one map in other words. Who is the check or the step that it is for.
type Change struct {
	MapPath, Pointer string
	Target           json.RawMessage
	// Was is what stands there in the map with which it was found; nil when that is not known.
	Was json.RawMessage
	Who string
}

// LocksOf are the lock files beside the maps that were given as files and as storage
// folders, by the path that results call the map by.
func LocksOf(given []string) (map[string]*lock.File, error) {
	out := map[string]*lock.File{}
	var failed error
	add := func(mapPath, file string) {
		f, err := lock.Read(lock.PathOf(file))
		if err != nil {
			failed = err
		} else if len(f.Targets) > 0 {
			out[mapPath] = f
		}
	}
	for _, g := range given {
		info, err := os.Stat(g)
		switch {
		case err != nil:
		case !info.IsDir():
			add(filepath.ToSlash(filepath.Clean(g)), g)
			add(filepath.Base(g), g)
			add(sites.ShownPath(g), g)
		default:
			_ = filepath.WalkDir(g, func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() && filepath.Base(path) == "actions.json" {
					if rel, err := filepath.Rel(g, path); err == nil {
						add(filepath.ToSlash(rel), path)
					}
				}
				return nil
			})
		}
	}
	return out, failed
}

// Of returns a file with changes made; nil when it cannot be read or no longer has what is to
// change.
func Of(file string, changes []Change) *Repaired {
	r, err := Read(file)
	if err != nil {
		return nil
	}
	for _, c := range changes {
		r.Refused = r.refuses(c)
		if r.Refused != "" {
			r.after = r.before
			r.Diff = ""
			r.Checks = []string{c.Who}
			r.maps = []string{c.MapPath}
			return r
		}
		next, err := r.With(c)
		if err != nil {
			return nil
		}
		r.Take(next, c)
	}
	return r
}

// refuses says why a change is not made: the map is not the one any more that it is for, or a
// secret would go into it. "" is that it can be.
func (r *Repaired) refuses(c Change) string {
	if c.Was != nil {
		if is, err := edit.Value(r.before, c.Pointer); err != nil || !same(is, c.Was) {
			return fmt.Sprintf(
				"the map %s has another value at %s than when it was loaded: run it again", r.File, c.Pointer,
			)
		}
	}
	if names := secretsIn(c.Target, c.Was); names != "" {
		return fmt.Sprintf(
			"the target at %s of %s would hold the secret %s: give it a locator without it", c.Pointer, r.File, names,
		)
	}
	return ""
}

// secretsIn are the names of secrets that a target holds which the map does not name.
func secretsIn(target, was json.RawMessage) string {
	names := slices.DeleteFunc(mask.Used(string(target)), func(n string) bool {
		return slices.Contains(mask.Used(string(was)), n)
	})
	return strings.Join(names, ", ")
}

// same reports whether two JSON texts have one value.
func same(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// Read is a file as it is.
func Read(file string) (*Repaired, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fault.Wrap(fault.StorageFileReadFailed, err, "reading the map").With("path", file)
	}
	return &Repaired{File: file, before: text, after: text}, nil
}

// With is the file as it is so far, with changes more.
func (r *Repaired) With(changes ...Change) (next []byte, err error) {
	next = r.after
	for _, c := range changes {
		next, err = edit.Replace(next, c.Pointer, c.Target)
		if err != nil {
			return nil, err
		}
	}
	return next, nil
}

// Take makes the file what With gave.
func (r *Repaired) Take(next []byte, c Change) {
	r.after = next
	r.Checks = append(r.Checks, c.Who)
	r.maps = append(r.maps, c.MapPath)
	r.Diff = diffOf(r.File, r.before, r.after)
}

// For reports whether a check, or a step, of a map is one that the change is for.
func (r *Repaired) For(mapPath, who string) bool {
	for i := range r.Checks {
		if r.Checks[i] == who && r.maps[i] == mapPath {
			return true
		}
	}
	return false
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

// Apply writes the map, unless somebody changed it meanwhile.
func (r Repaired) Apply() error {
	if r.Proposed {
		return fault.New(fault.InvalidInput, "the change of %s is only proposed: it is one of an assertion", r.File)
	}
	if r.Refused != "" {
		return fault.New(fault.InvalidInput, "%s", r.Refused)
	}
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

// Apply writes all of them, where that is asked for. One that cannot be written leaves the
// others.
func Apply(repairs []Repaired, asked bool) error {
	var failed []error
	for i := range repairs {
		if !asked {
			break
		}
		if repairs[i].Proposed {
			continue
		}
		err := repairs[i].Apply()
		repairs[i].unwritten = err != nil
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// joined is the error of errors.Join.
type joined interface{ Unwrap() []error }

// Each is what is joined in an error, one by one; nothing of nil.
func Each(err error) []error {
	if all, ok := err.(joined); ok { //nolint:errorlint // what it is itself is asked
		var out []error
		for _, e := range all.Unwrap() {
			out = append(out, Each(e)...)
		}
		return out
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// Print shows lock files that were written, and each repair as a diff.
func Print(w io.Writer, locks []string, repairs []Repaired, applied bool) {
	for _, path := range locks {
		fmt.Fprintf(w, "lock    %s\n", report.Printable(path))
	}
	for _, r := range repairs {
		word, next := "repair ", ": it passes with this change, which --fix writes"
		switch {
		case r.Refused != "":
			word, next = "refused", ": "+report.Printable(r.Refused)
		case r.Proposed:
			word, next = "proposed", ": it passes with this change, which is only proposed: read it before you make it"
		case applied:
			word, next = "fixed  ", ""
		}
		if applied && r.unwritten && !r.Proposed {
			word, next = "repair ", ": it passes with this change, which could not be written"
		}
		fmt.Fprintf(
			w, "%s %s  %s%s\n", word, report.Printable(r.File), report.Printable(strings.Join(r.Checks, ", ")), next,
		)
		for line := range strings.Lines(r.Diff) {
			parts := strings.Split(strings.TrimRight(line, "\r\n"), "\t") // a patch keeps its tabs
			for i := range parts {
				parts[i] = report.Printable(parts[i])
			}
			fmt.Fprintln(w, strings.Join(parts, "\t"))
		}
	}
}

// UpdateLocks writes what elements look like into the lock files beside their maps. It returns
// the files that changed. One that cannot be read or written leaves the others. What holds a
// secret is not stored: warn is called with it.
func UpdateLocks(remembered []checks.Remembered, files Files, warn func(error)) ([]string, error) {
	seen := map[string][]lock.Entry{}
	reported := map[string]bool{}
	for _, r := range remembered {
		if file, ok := files(r.MapPath); ok {
			if names := held(r.Entry); names != "" {
				if key := lock.Key(r.Target); !reported[key] && warn != nil {
					reported[key] = true
					warn(fmt.Errorf("a target of %s is not remembered: its element holds the secret %s", file, names))
				}
				continue
			}
			seen[lock.PathOf(file)] = append(seen[lock.PathOf(file)], r.Entry)
		}
	}
	changed := []string{}
	var failed []error
	for _, path := range slices.Sorted(maps.Keys(seen)) {
		wrote, err := updateLock(path, seen[path], warn)
		if wrote {
			changed = append(changed, path)
		}
		failed = append(failed, err)
	}
	return changed, errors.Join(failed...)
}

func updateLock(path string, entries []lock.Entry, warn func(error)) (wrote bool, err error) {
	f, err := lock.Read(path)
	if fault.CodeOf(err) == fault.InvalidInput { // nobody can read what it remembered
		if warn != nil {
			warn(fmt.Errorf("%s was no lock file that can be read: it is written anew", path))
		}
		f, err = &lock.File{Version: lock.Version}, nil
	}
	if err != nil {
		return false, err
	}
	f.Merge(entries)
	text, err := f.Encode()
	if err != nil {
		return false, err
	}
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return false, nil
	}
	if err := replaceFile(path, text); err != nil {
		return false, fmt.Errorf("writing the lock file %s: %w", path, err)
	}
	return true, nil
}

// held are the names of the secrets that an entry holds.
func held(e lock.Entry) string {
	raw, err := json.Marshal(e)
	if err != nil {
		return ""
	}
	return strings.Join(mask.Used(string(raw)), ", ")
}

// replaceFile writes a file whole or not at all, with the mode that it had.
func replaceFile(path string, text []byte) error { return outfile.Write(path, text, 0o644) }
