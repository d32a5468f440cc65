package sites

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites/location"
	"github.com/outrider-run/outrider/sites/manifest"
)

// MaxMaps bounds the maps of one folder or bundle.
const MaxMaps = 10_000

// FileReport says what became of one file. It is what outrider validate prints.
type FileReport struct {
	Path     string             `json:"file"`
	OK       bool               `json:"ok"`
	Errors   []manifest.Problem `json:"errors"`
	Warnings []manifest.Problem `json:"warnings"`
	// Needs are the permissions that actions of the map need, with the actions. Maps of
	// the scopes shared and public have them only when they are given.
	Needs map[Permission][]string `json:"needs,omitempty"`
	Scope location.Scope          `json:"scope,omitempty"`
	// Kept: the file is invalid, and its last valid version stays on offer.
	Kept bool `json:"kept,omitempty"`
	// Left are the errors of tools and state projections that cannot be used; the
	// rest of the map can.
	Left []manifest.Problem `json:"left_out,omitempty"`
	// Named: the user named this very file, which was not found in a folder.
	Named bool `json:"-"`
}

func reportOf(path string, r manifest.Report) FileReport {
	f := FileReport{Path: path, OK: r.OK(), Errors: r.Errors, Warnings: r.Warnings, Left: r.Left}
	if f.Errors == nil {
		f.Errors = []manifest.Problem{}
	}
	if f.Warnings == nil {
		f.Warnings = []manifest.Problem{}
	}
	return f
}

func failedReport(path string, code fault.Code, format string, args ...any) FileReport {
	return reportOf(path, manifest.Report{
		Errors: []manifest.Problem{{Code: code, Message: fmt.Sprintf(format, args...)}},
	})
}

// Load reads maps. Each path is one map, or a folder: a storage workspace, any
// folder that has sites/<host>/.../actions.json below it, or a plain folder of
// maps (actions.json and *.actions.json). An invalid map contributes nothing;
// its report has every error. A path that cannot be read is an error too.
//
// A file that the user names applies to every page unless it lies in a site
// folder.
func Load(paths []string, opts Options) (*Library, []FileReport) {
	l := newLoader(opts)
	l.load(paths)
	library := newLibrary(l.maps, l.refused, opts).admit(l.report, nil)
	if opts.Needs != nil {
		for m, i := range l.reportOf {
			l.reports[i].Scope, l.reports[i].Needs = m.Location.Scope, opts.Needs(m)
		}
	}
	if opts.Inspect != nil {
		for m, i := range l.reportOf {
			r := &l.reports[i]
			errors, warnings := opts.Inspect(library, m)
			r.Errors = append(append(r.Errors, r.Left...), errors...)
			r.Left = nil
			r.Warnings = append(r.Warnings, warnings...)
			r.OK = len(r.Errors) == 0
		}
	}
	return library, l.reports
}

func newLoader(opts Options) *loader {
	return &loader{opts: opts, seen: map[string]bool{}, reportOf: map[*Map]int{}}
}

func (l *loader) report(m *Map) *FileReport { return &l.reports[l.reportOf[m]] }

func (l *loader) load(paths []string) {
	for _, p := range paths {
		l.project = slices.Contains(l.opts.Project, p)
		info, err := os.Stat(p)
		switch {
		case err != nil:
			l.unreadable(p, err)
			l.reports[len(l.reports)-1].Named = true
		case info.IsDir():
			l.folder(p)
		default:
			l.single(p)
		}
	}
}

type loader struct {
	opts    Options
	maps    []*Map
	reports []FileReport
	refused []refusal
	seen    map[string]bool // real paths
	project bool            // the path that is read was named by a project file

	reportOf map[*Map]int // index of its report

	// before are the maps of an earlier load by file: what is the same is not
	// read again, what is broken is kept as it was.
	before map[string]*Map
	jobs   []parseJob
	kept   []*Map
}

func (l *loader) unreadable(name string, err error) {
	code, what := fault.StorageFileReadFailed, "the path cannot be read"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		code, what = fault.StorageFileNotFound, "there is no such file or folder"
	case errors.Is(err, fs.ErrPermission):
		what = "the path cannot be read: permission denied"
	}
	l.reports = append(l.reports, failedReport(name, code, "%s", what))
	l.refused = append(l.refused, refusal{path: location.AgentPath(name), everywhere: true})
}

// place is what a file's path says about a map.
type place struct {
	path       string // towards agents
	loc        location.Location
	root       string // folder that companions are read from
	dir        string // of the map in it, with / separators
	everywhere bool
	explicit   bool // the user named the file
	storage    *workspace
}

// locate decides where the file rel of folder root belongs. explicit is true
// for a file the user named himself.
func locate(root, rel string, explicit bool) place {
	full := filepath.ToSlash(filepath.Join(root, filepath.FromSlash(rel)))
	tail, ok := location.StoragePath(full)
	if !ok && !explicit {
		if loc, ok := location.Locate(rel); ok {
			return place{path: rel, loc: loc, root: root, dir: path.Dir(rel)}
		}
	}
	if !ok {
		tail, ok = location.SiteTail(full)
	}
	if ok {
		if loc, ok := location.Locate(tail); ok {
			top := strings.TrimSuffix(full, tail)
			return place{path: tail, loc: loc, root: filepath.FromSlash(top), dir: path.Dir(tail)}
		}
	}
	return place{path: rel, root: root, dir: path.Dir(rel), everywhere: explicit}
}

func (l *loader) single(name string) {
	abs, err := filepath.Abs(name)
	if err != nil {
		l.unreadable(name, err)
		return
	}
	f, err := os.Open(name)
	if err != nil {
		l.unreadable(name, err)
		return
	}
	defer f.Close()
	at := locate(filepath.Dir(abs), filepath.Base(abs), true)
	at.explicit = true
	if at.everywhere {
		at.path = location.AgentPath(name)
	}
	before := len(l.reports)
	l.read(f, name, abs, at)
	l.parse()
	for i := range l.reports[before:] {
		l.reports[before+i].Named = true
	}
}

// ShownPath is the path of a report as agents may see it: from the storage root,
// or without the folders above.
func ShownPath(name string) string { return location.ShownPath(name) }

func (l *loader) folder(name string) {
	abs, err := filepath.Abs(name)
	if err != nil {
		l.unreadable(name, err)
		return
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		l.unreadable(name, err)
		return
	}
	defer root.Close()
	storage := l.workspace(name, root)
	count := 0
	err = fs.WalkDir(root.FS(), ".", func(rel string, d fs.DirEntry, err error) error {
		shown := filepath.Join(name, filepath.FromSlash(rel))
		switch {
		case err != nil:
			l.unreadable(shown, err)
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			if rel != "." && location.HoldsNoMaps(d.Name()) {
				return fs.SkipDir
			}
			return nil
		case !isMap(rel, d.Name()):
			return nil
		}
		if count++; count > MaxMaps {
			l.reports = append(
				l.reports, failedReport(name, fault.LimitExceeded, "the folder has more than %d maps", MaxMaps),
			)
			return fs.SkipAll
		}
		// A link is followed inside of the folder only.
		f, err := root.Open(filepath.FromSlash(rel))
		if err != nil {
			if d.Type()&fs.ModeSymlink != 0 && !errors.Is(err, fs.ErrNotExist) {
				l.reports = append(
					l.reports, failedReport(shown, fault.PathEscape, "the link leaves the storage folder"),
				)
				return nil
			}
			l.unreadable(shown, err)
			return nil
		}
		defer f.Close()
		at := locate(abs, rel, false)
		at.storage = storage
		l.read(f, shown, filepath.Join(abs, filepath.FromSlash(rel)), at)
		return nil
	})
	l.parse()
	if err != nil {
		l.unreadable(name, err)
	}
	if count == 0 {
		r := reportOf(name, manifest.Report{})
		r.Warnings = append(r.Warnings, manifest.Problem{
			Code:    fault.StorageFileNotFound,
			Message: "the folder has no actions.json",
		})
		l.reports = append(l.reports, r)
	}
}

// workspace reads what the storage says about its scopes.
func (l *loader) workspace(shown string, root *os.Root) *workspace {
	var folders []string
	for _, pattern := range []string{
		".", "scopes/*", "scopes/shared/*", "actions.json.storage.*", "private", "public", "shared/*",
	} {
		found, _ := fs.Glob(root.FS(), pattern)
		for _, f := range found {
			folders = append(folders, strings.TrimPrefix(f, "."))
		}
	}
	w, reports := readWorkspace(func(name string) []byte {
		f, err := root.Open(filepath.FromSlash(name))
		if err != nil {
			return nil
		}
		defer f.Close()
		if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxScopeFile {
			return nil
		}
		data, err := io.ReadAll(io.LimitReader(f, maxScopeFile))
		if err != nil {
			return nil
		}
		return data
	}, folders)
	for _, r := range reports {
		r.Path = filepath.Join(shown, filepath.FromSlash(r.Path))
		l.reports = append(l.reports, r)
	}
	return w
}

// isMap reports whether a file of a folder is a map. In a site folder only the
// exact name counts, because companions may be called anything else.
// Packages apply nowhere by themselves: they are read where they are imported.
func isMap(rel, name string) bool {
	if strings.HasPrefix(rel, "packages/") && !strings.Contains(rel, "/sites/") {
		return false
	}
	if name == "actions.json" {
		return true
	}
	return strings.HasSuffix(name, ".actions.json") && !strings.HasPrefix(rel, "sites/") &&
		!strings.Contains(rel, "/sites/")
}

func (l *loader) read(f *os.File, name, abs string, at place) {
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		if l.seen[real] {
			return // named twice
		}
		l.seen[real] = true
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		l.reports = append(l.reports, failedReport(name, fault.StorageFileReadFailed, "not a regular file"))
		return
	}
	// One byte more than allowed is enough for the parser to say so.
	var text bytes.Buffer
	if err == nil {
		text.Grow(int(min(info.Size(), manifest.MaxBytes)) + bytes.MinRead)
	}
	_, err = text.ReadFrom(io.LimitReader(f, manifest.MaxBytes+1))
	data := text.Bytes()
	if err != nil {
		l.unreadable(name, err)
		return
	}
	loc, keep, odd := at.storage.locate(at.path, at.loc)
	at.loc = loc
	slot := len(l.reports)
	l.reports = append(l.reports, FileReport{}) // its place, whenever it is parsed
	old := l.before[abs]
	same := old != nil && old.sameText(data) && old.Path == at.path && old.Location == loc
	if same && old.guard == keep && old.storage.same(at.storage) {
		l.keep(old, slot, name)
		return
	}
	how := l.opts.manifest()
	how.Inspected = l.opts.Inspect != nil && !how.AcceptDrafts
	how.Parts = how.Inspected || how.Parts && !at.explicit // who names a file wants to know what is wrong with it
	l.jobs = append(l.jobs, parseJob{data, how, func(m *manifest.Manifest, report manifest.Report) {
		l.parsed(m, report, slot, name, abs, at, keep, odd)
	}})
	if len(l.jobs) == parsedTogether || len(data) > parsedAlone || l.before != nil {
		l.parse()
	}
}

// parsedTogether is how many maps of a folder are read before they are parsed, on all processors. None waits for others
// after one of parsedAlone bytes.
const (
	parsedTogether = 64
	parsedAlone    = 1 << 20
)

type parseJob struct {
	data []byte
	how  manifest.Options
	done func(*manifest.Manifest, manifest.Report)
}

// parse parses what was read, and puts it among the maps in the order of the files.
func (l *loader) parse() {
	manifests, reports := make([]*manifest.Manifest, len(l.jobs)), make([]manifest.Report, len(l.jobs))
	manifest.EachOf(len(l.jobs), func(i int) {
		manifests[i], reports[i] = manifest.Parse(l.jobs[i].data, l.jobs[i].how)
	})
	for i, job := range l.jobs {
		job.done(manifests[i], reports[i])
	}
	l.jobs = nil
}

func (l *loader) parsed(
	m *manifest.Manifest, report manifest.Report, slot int,
	name, abs string, at place, keep guard, odd []manifest.Problem,
) {
	if (m == nil || len(report.Left) > 0) && l.before[abs] != nil {
		l.keep(l.before[abs], slot, name)
		l.reports[slot] = keptReport(name, append(report.Errors, report.Left...), report.Warnings)
		l.kept = append(l.kept, l.before[abs])
		return
	}
	if m == nil {
		l.refused = append(l.refused, refusal{path: at.path, host: at.loc.Host, everywhere: at.loc.Host == ""})
		l.reports[slot] = reportOf(name, report)
		return
	}
	out := newMap(m, at.path, at.loc, l.opts)
	out.everywhere, out.file = at.everywhere, abs
	out.companions, out.dir = folderFiles(at.root), at.dir
	out.storage = at.storage
	out.guard = keep
	out.project = l.project
	report.Warnings = append(report.Warnings, odd...)
	report.Warnings = append(report.Warnings, out.unsafeProvenance()...)
	out.warnings = report.Warnings
	report.Warnings = append(slices.Clip(report.Warnings), out.missingFiles()...)
	l.maps = append(l.maps, out)
	l.reportOf[out], l.reports[slot] = slot, reportOf(name, report)
}

// keep takes a map over from the load before.
func (l *loader) keep(m *Map, slot int, name string) {
	l.maps = append(l.maps, m)
	l.reports[slot] = reportOf(name, manifest.Report{Warnings: append(slices.Clip(m.warnings), m.missingFiles()...)})
	l.reportOf[m] = slot
}

func keptReport(name string, errors, warnings []manifest.Problem) FileReport {
	r := reportOf(name, manifest.Report{Errors: errors, Warnings: warnings})
	r.Kept = true
	return r
}

// FromMap makes a library of the one map that came with a call. It applies to
// the host its path names, or everywhere when the path names none. The fault is
// invalid_manifest with the first errors as evidence.
func FromMap(mapPath string, raw json.RawMessage, opts Options) (*Library, *fault.Error) {
	m, report := manifest.Parse(raw, opts.manifest())
	if m == nil {
		return nil, report.Err().With("map_path", shown(mapPath))
	}
	if len(report.Left) > 0 && len(m.Tools) == 0 && len(m.StateProjections) == 0 {
		// Nothing is offered, so no call would ever say what is wrong.
		return nil, manifest.Report{Errors: report.Left}.Err().With("map_path", shown(mapPath))
	}
	loc, ok := location.Locate(mapPath)
	out := newMap(m, mapPath, loc, opts)
	out.everywhere = !ok
	return newLibrary([]*Map{out}, nil, opts), nil
}

// FromFiles is FromMap for a map that lies among files, such as those embedded
// in a program: it may import from them and declare them as companions. name is
// its path in files.
func FromFiles(files fs.FS, name string, opts Options) (*Library, *fault.Error) {
	from := &embeddedFiles{files}
	raw, err := from.read(name, manifest.MaxBytes+1)
	if err != nil {
		return nil, fault.Wrap(fault.StorageFileReadFailed, err, "reading the map").With("map_path", shown(name))
	}
	m, report := manifest.Parse(raw, opts.manifest())
	if m == nil {
		return nil, report.Err().With("map_path", shown(name))
	}
	loc, ok := location.Locate(name)
	out := newMap(m, name, loc, opts)
	out.everywhere = !ok
	out.companions, out.dir = from, path.Dir(name)
	file := reportOf(name, report)
	library := newLibrary([]*Map{out}, nil, opts).admit(func(*Map) *FileReport { return &file }, nil)
	if !file.OK {
		return nil, manifest.Report{Errors: file.Errors}.Err().With("map_path", shown(name))
	}
	return library, nil
}
