package hub

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites"
)

// storage is shared with the runtimes of the hub; with it the hub answers
// actions.site for those that cannot, as the upstream extension.
type storage struct {
	root  string   // of the bundle, "" for none
	paths []string // of the maps

	mu      sync.Mutex
	library *sites.Library
	read    time.Time
}

// freshMaps is how long maps that were read count as those on the disk.
const freshMaps = time.Second

// maps returns the maps on the disk. They are read as far as they can be read:
// the runtime judges the calls that it receives.
func (s *storage) maps() *sites.Library {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.library == nil || time.Since(s.read) > freshMaps {
		s.library, _ = sites.Load(s.paths, sites.Options{Salvage: true})
		s.read = time.Now()
	}
	return s.library
}

// forget makes the next query read the maps again.
func (s *storage) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.library = nil
}

// maxBundle bounds the texts of a bundle in bytes.
const maxBundle = 64 << 20

type bundleEntry struct {
	Path        string `json:"path"`
	Content     string `json:"content"`
	ContentType string `json:"content_type"`
	Bytes       int    `json:"bytes"`
	ModifiedAt  int64  `json:"modified_at_ms"`
}

// bundle is every text file below the root, sorted by path (wire reference,
// "Bundle").
func (s *storage) bundle() (json.RawMessage, error) {
	root, err := os.OpenRoot(s.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, total := []bundleEntry{}, 0
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != "." && (d.Name() == ".git" || d.Name() == "node_modules" || d.Name() == "dist"):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular() || name == lifecycleFile || name == lifecycleOld:
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		f, err := root.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		text, err := io.ReadAll(io.LimitReader(f, int64(maxBundle-total)+1))
		if err != nil {
			return err
		}
		total += len(text)
		if total > maxBundle {
			return fault.New(fault.LimitExceeded, "the storage folder has more than %d bytes of text", maxBundle)
		}
		if !utf8.Valid(text) {
			total -= len(text)
			return nil
		}
		entries = append(entries, bundleEntry{
			name, string(text), contentType(name), len(text), info.ModTime().UnixMilli(),
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return marshal(map[string]any{
		"protocol":     "actions.json.storage.bundle",
		"version":      1,
		"synced_at_ms": time.Now().UnixMilli(),
		"entries":      entries,
	}), nil
}

func contentType(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".json":
		return "application/json"
	case ".html", ".htm":
		return "text/html"
	case ".md":
		return "text/markdown"
	case ".css":
		return "text/css"
	case ".js", ".mjs":
		return "text/javascript"
	}
	return "text/plain"
}

// siteArguments are the arguments of actions.site that the hub reads.
type siteArguments struct {
	Mode           string          `json:"mode"`
	Action         string          `json:"action"`
	Arguments      json.RawMessage `json:"arguments"`
	ProjectionName string          `json:"projection_name"`
	SummaryName    *string         `json:"summary_name"`
	MaxBytes       *int            `json:"max_bytes"`
}

// siteItem is site_action_call or state_projection_call.
type siteItem struct {
	Type           string          `json:"type"`
	CallID         string          `json:"call_id"`
	RuntimeID      string          `json:"runtime_id"`
	Action         string          `json:"action,omitempty"`
	Arguments      json.RawMessage `json:"arguments,omitempty"`
	Map            json.RawMessage `json:"map,omitempty"`
	Mode           string          `json:"mode,omitempty"`
	ProjectionName string          `json:"projection_name,omitempty"`
	SummaryName    *string         `json:"summary_name,omitempty"`
	MaxBytes       *int            `json:"max_bytes,omitempty"`
	Projection     json.RawMessage `json:"projection,omitempty"`
	MapPath        string          `json:"map_path"`
	TimeoutMS      int64           `json:"timeout_ms"`
	IdempotencyKey string          `json:"idempotency_key,omitempty"`
}

// servesSites reports whether the hub answers actions.site for e: it has maps,
// and the runtime does not know the tool.
func (h *Hub) servesSites(e *entry) bool {
	return h.storage != nil && !e.knows(siteTool)
}

// knows reports whether the runtime described a tool.
func (e *entry) knows(tool string) bool {
	return slices.ContainsFunc(e.tools, func(t Tool) bool { return t.Name == tool })
}

// site answers actions.site for a runtime that cannot.
func (h *Hub) site(ctx context.Context, e *entry, raw []byte, timeout time.Duration) ToolResult {
	var in siteArguments
	if json.Unmarshal(raw, &in) != nil {
		return refused(fault.New(fault.InvalidInput, "the arguments of actions.site have a member of the wrong kind"))
	}
	library := h.storage.maps()
	switch in.Mode {
	case "list":
		return output(e, marshal(library.List(e.URL)))
	case "call":
		return h.siteAction(ctx, e, library, in, timeout)
	case "state_read", "state_summary", "state_diff":
		if in.ProjectionName == "" {
			return refused(fault.New(fault.InvalidInput, "mode %s needs projection_name", in.Mode).
				With("missing_required", []string{"projection_name"}))
		}
		m, p, err := library.FindProjection(e.URL, in.ProjectionName)
		if err != nil {
			return refused(err)
		}
		return h.dispatchItem(ctx, e, in.Mode, siteItem{
			Type:           "state_projection_call",
			Mode:           in.Mode,
			ProjectionName: in.ProjectionName,
			SummaryName:    in.SummaryName,
			MaxBytes:       in.MaxBytes,
			Projection:     p.Raw,
			MapPath:        mapPath(m, e),
		}, timeout)
	}
	return refused(fault.New(fault.InvalidInput, "the runtime does not know actions.site, and the hub has the modes "+
		"list, call, state_read, state_summary and state_diff").
		With("mode", clip(in.Mode)))
}

func (h *Hub) siteAction(
	ctx context.Context, e *entry, library *sites.Library, in siteArguments, timeout time.Duration,
) ToolResult {
	args := in.Arguments
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	match, err := library.Find(e.URL, in.Action)
	if err != nil {
		return refused(err)
	}
	if err := match.ValidateInput(args); err != nil {
		return refused(err)
	}
	switch match.Kind() {
	case sites.KindStatic:
		return output(e, match.Static())
	case sites.KindPrimitive:
		name, merged, err := match.Primitive(args)
		if err != nil {
			return refused(err)
		}
		return h.dispatch(ctx, e, name, merged, timeout)
	case sites.KindWorkflow:
		return h.dispatchItem(ctx, e, in.Action, siteItem{
			Type:      "site_action_call",
			Action:    match.Tool.Name,
			Arguments: args,
			Map:       match.Map.Manifest.Raw,
			MapPath:   mapPath(match.Map, e),
		}, timeout)
	}
	return refused(match.Unsupported())
}

// output is the result of a call that needed no runtime.
func output(e *entry, out json.RawMessage) ToolResult {
	return ToolResult{OK: true, RuntimeID: e.RuntimeID, Output: out, Status: http.StatusOK}
}

// mapPath names a map towards a runtime, which takes the site from it.
func mapPath(m *sites.Map, e *entry) string {
	if m.Location.Host != "" {
		return m.Path
	}
	return "scopes/private/sites/" + e.Host + "/" + path.Base(path.Dir("/"+m.Path)) + "/actions.json"
}
