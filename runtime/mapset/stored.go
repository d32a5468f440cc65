package mapset

import (
	"encoding/json"
	"slices"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites"
)

// maxAsset bounds a file that an overlay is made of, in bytes.
const maxAsset = 2 << 20

// Stored implements session.Storage: what primitives read and change of the storage that maps came from.
type Stored struct {
	Maps   *Maps
	Reader *sites.Map // on whose behalf a primitive runs; nil for an agent's
	// Import takes a bundle, and follows the maps that it brought.
	Import func(bundle json.RawMessage) (json.RawMessage, *fault.Error)
}

// StoredFile implements session.Storage.
func (s Stored) StoredFile(pageURL, id, path string, maxBytes int) (json.RawMessage, *fault.Error) {
	content, err := s.Maps.Current().Library.ReadFileFor(s.Reader, pageURL, id, path, maxBytes)
	if err != nil {
		return nil, err
	}
	return asJSON(content)
}

// storedPaths is the answer of storage.list.
type storedPaths struct {
	OK         bool     `json:"ok"`
	Protocol   *string  `json:"protocol"`
	Version    *int64   `json:"version"`
	SyncedAtMS *int64   `json:"synced_at_ms"`
	ImportedAt *string  `json:"imported_at"`
	EntryCount int      `json:"entry_count"`
	Paths      []string `json:"paths"`
}

// StoredPaths implements session.Storage.
func (s Stored) StoredPaths() (json.RawMessage, *fault.Error) {
	bundle, imported := s.Maps.Bundle()
	out := storedPaths{OK: true, Paths: []string{}}
	if bundle != nil {
		protocol := sites.BundleProtocol
		out.Protocol = &protocol
		out.Version = bundle.Version
		out.ImportedAt = &imported
		out.SyncedAtMS = bundle.SyncedAtMS
		reached := slices.DeleteFunc(bundle.Listed(), func(p string) bool { return !s.Reader.ReachesStored(p) })
		out.Paths = append(out.Paths, reached...) // an empty list, not null, of an empty bundle
		out.EntryCount = len(out.Paths)
	}
	return asJSON(out)
}

// ImportStored implements session.Storage.
func (s Stored) ImportStored(bundle json.RawMessage) (json.RawMessage, *fault.Error) {
	if !s.Reader.ChangesStored() {
		return nil, fault.New(fault.PermissionDenied, "a map of others brings no maps").With("map_path", s.Reader.Path)
	}
	return s.Import(bundle)
}

// StoredAsset implements session.Storage.
func (s Stored) StoredAsset(scope, path string) ([]byte, *fault.Error) {
	full, ok := sites.StoragePath(scope, path)
	if !ok {
		return nil, fault.New(fault.UnsafePath, "the path leaves its storage scope").
			With("scope", fault.Clip(scope, 100)).With("path", fault.Clip(path, 200))
	}
	if !s.Reader.ReachesStored(full) {
		return nil, fault.New(fault.PermissionDenied, "the file belongs to another scope than the map").
			With("path", full).With("map_path", s.Reader.Path)
	}
	data, err := s.Maps.Current().Library.ReadStored(full, maxAsset+1)
	if err != nil || len(data) > maxAsset {
		return nil, &fault.Error{
			Code:     fault.AssetNotFound,
			Message:  "the stored file cannot be read",
			Err:      err,
			Evidence: map[string]any{"path": full, "limit_bytes": maxAsset},
		}
	}
	return data, nil
}

// StoredSource implements session.Storage.
func (s Stored) StoredSource(path string) ([]byte, *fault.Error) {
	if s.Reader == nil {
		return nil, fault.New(
			fault.InvalidInput,
			"html_source is a file of the map that calls; here nobody's map does: template names a stored file",
		)
	}
	data, err := s.Maps.Current().Library.ReadSource(s.Reader, path, maxAsset+1)
	if err == nil && len(data) > maxAsset {
		return nil, fault.New(fault.PayloadTooLarge, "the file is too large for an overlay").
			With("path", fault.Clip(path, 200)).With("limit_bytes", maxAsset)
	}
	return data, err
}

func asJSON(v any) (json.RawMessage, *fault.Error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "encoding the answer")
	}
	return b, nil
}
