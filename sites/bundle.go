package sites

import (
	"encoding/json"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites/location"
	"github.com/outrider-run/outrider/sites/manifest"
)

// BundleProtocol is the protocol member of a storage bundle.
const BundleProtocol = "actions.json.storage.bundle"

// Bundle is a storage workspace that came as one JSON value. It is immutable.
type Bundle struct {
	entries map[string]entry
	listed  []string // their paths as storage.list has them: as they came, merged ones by locale
	// Version is what the bundle says of itself, nil where that is no integer.
	Version    *int64
	SyncedAtMS *int64
	// Hydration is set when the bridge marked the bundle as its own push after
	// runtime_ready: such a bundle is merged, any other replaces.
	Hydration bool
}

type entry struct {
	text       string
	modifiedMS *float64
}

// ImportResult is the answer to storage.import_bundle.
type ImportResult struct {
	OK             bool   `json:"ok"`
	EntryCount     int    `json:"entry_count"`
	Merged         bool   `json:"merged"`
	UpdatedCount   int    `json:"updated_count"`
	PreservedCount int    `json:"preserved_count"`
	SyncedAtMS     *int64 `json:"synced_at_ms"`
	ImportedAt     string `json:"imported_at"`
}

// ParseBundle reads a bundle: {protocol, entries:[{path, content or text, ...}]}
// or {protocol, files:{path:{text}}}. Entries whose path has an empty, . or ..
// part are left out: they could only be meant to escape.
func ParseBundle(raw json.RawMessage) (*Bundle, *fault.Error) {
	var in struct {
		Protocol   string
		Version    json.RawMessage
		SyncedAtMS *int64 `json:"synced_at_ms"`
		Hydration  bool   `json:"x_actions_json_bridge_hydration"`
		Entries    []bundleEntry
		Files      map[string]bundleEntry
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, &fault.Error{Code: fault.HandlerFailed, Message: "the bundle cannot be decoded", Err: err}
	}
	if in.Protocol != BundleProtocol {
		return nil, fault.New(fault.HandlerFailed, "the bundle's protocol is not %s", BundleProtocol)
	}
	if in.Entries == nil && in.Files == nil {
		return nil, fault.New(fault.HandlerFailed, "the bundle has no entries")
	}
	b := &Bundle{entries: map[string]entry{}, SyncedAtMS: in.SyncedAtMS, Hydration: in.Hydration}
	// What the version is decides nothing, so a strange one refuses nothing.
	if json.Unmarshal(in.Version, &b.Version) != nil {
		b.Version = nil
	}
	for _, e := range in.Entries {
		b.put(e.Path, e)
	}
	for _, name := range slices.Sorted(maps.Keys(in.Files)) {
		b.put(name, in.Files[name])
	}
	return b, nil
}

type bundleEntry struct {
	Path    string
	Content *string
	Text    *string
	// The first of these that is there counts.
	ModifiedAtMS   *float64 `json:"modified_at_ms"`
	LastModifiedMS *float64 `json:"last_modified_ms"`
	MtimeMS        *float64 `json:"mtime_ms"`
	UpdatedAtMS    *float64 `json:"updated_at_ms"`
}

func (b *Bundle) put(name string, e bundleEntry) {
	text := e.Content
	if text == nil {
		text = e.Text
	}
	if text == nil || !fs.ValidPath(name) || name == "." || strings.Contains(name, `\`) {
		return
	}
	out := entry{text: *text}
	for _, ms := range []*float64{e.ModifiedAtMS, e.LastModifiedMS, e.MtimeMS, e.UpdatedAtMS} {
		if ms != nil {
			out.modifiedMS = ms
			break
		}
	}
	if _, again := b.entries[name]; !again {
		b.listed = append(b.listed, name)
	}
	b.entries[name] = out
}

// Listed returns the entries' paths in the order in which they are kept.
func (b *Bundle) Listed() []string { return slices.Clone(b.listed) }

// Import returns what a runtime has after in arrived, b being what it had
// before (nil is nothing). A hydration is merged path by path: an entry it has
// is kept unless the new one says a strictly later time, and entries that did
// not come stay. Any other bundle replaces all, and counts as no update of one.
func (b *Bundle) Import(in *Bundle, now time.Time) (*Bundle, ImportResult) {
	r := ImportResult{
		OK:         true,
		Merged:     in.Hydration,
		SyncedAtMS: in.SyncedAtMS,
		ImportedAt: jsonout.Time(now),
	}
	if !in.Hydration {
		r.EntryCount = len(in.entries)
		return in, r
	}
	out := &Bundle{entries: map[string]entry{}, Version: in.Version, SyncedAtMS: in.SyncedAtMS, Hydration: true}
	if b != nil {
		maps.Copy(out.entries, b.entries)
	}
	for name, e := range in.entries {
		if old, ok := out.entries[name]; ok && !later(e, old) {
			r.PreservedCount++
			continue
		}
		out.entries[name] = e
		r.UpdatedCount++
	}
	out.listed = location.ByLocale(slices.Collect(maps.Keys(out.entries)))
	r.EntryCount = len(out.entries)
	return out, r
}

// later reports whether e says a strictly later time than old. An entry without
// a time is never later, and one with a time is later than one without.
func later(e, old entry) bool {
	return e.modifiedMS != nil && (old.modifiedMS == nil || *e.modifiedMS > *old.modifiedMS)
}

// Library loads the maps of the bundle: entries called actions.json in a site
// folder and not below proof. Reports are named by path.
func (b *Bundle) Library(opts Options) (*Library, []FileReport) {
	var (
		ms      []*Map
		reports []FileReport
		refused []refusal
		place   = map[*Map]int{} // of its report
	)
	if b == nil {
		b = &Bundle{}
	}
	storage, problems := b.workspace()
	reports = append(reports, problems...)
	for _, name := range slices.Sorted(maps.Keys(b.entries)) {
		if path.Base(name) != "actions.json" || slices.ContainsFunc(strings.Split(name, "/"), location.HoldsNoMaps) {
			continue
		}
		loc, ok := location.Locate(name)
		if !ok {
			continue
		}
		if len(reports) == MaxMaps {
			reports = append(
				reports, failedReport(name, fault.LimitExceeded, "the bundle has more than %d maps", MaxMaps),
			)
			break
		}
		m, report := manifest.Parse([]byte(b.entries[name].text), opts.manifest())
		if m == nil {
			refused = append(refused, refusal{path: name, host: loc.Host})
			reports = append(reports, reportOf(name, report))
			continue
		}
		loc, keep, odd := storage.locate(name, loc)
		report.Warnings = append(report.Warnings, odd...)
		out := newMap(m, name, loc, opts)
		out.companions = bundleFiles{b}
		out.dir = path.Dir(name)
		out.storage = storage
		out.guard = keep
		report.Warnings = append(append(report.Warnings, out.unsafeProvenance()...), out.missingFiles()...)
		place[out] = len(reports)
		ms, reports = append(ms, out), append(reports, reportOf(name, report))
	}
	library := newLibrary(ms, refused, opts).admit(func(m *Map) *FileReport { return &reports[place[m]] }, nil)
	return library, reports
}

// workspace reads what the bundle's storage says about its scopes.
func (b *Bundle) workspace() (*workspace, []FileReport) {
	var folders []string
	for name := range b.entries {
		if path.Base(name) == scopeFile && !strings.Contains(name, "/sites/") {
			folders = append(folders, strings.TrimPrefix(path.Dir(name), "."))
		}
	}
	slices.Sort(folders)
	return readWorkspace(func(name string) []byte {
		if e, ok := b.entries[name]; ok && len(e.text) <= maxScopeFile {
			return []byte(e.text)
		}
		return nil
	}, folders)
}

type bundleFiles struct{ b *Bundle }

func (f bundleFiles) size(name string) (int64, error) {
	e, ok := f.b.entries[name]
	if !ok {
		return 0, fs.ErrNotExist
	}
	return int64(len(e.text)), nil
}

func (f bundleFiles) read(name string, max int64) ([]byte, error) {
	e, ok := f.b.entries[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(e.text[:min(int64(len(e.text)), max)]), nil
}
