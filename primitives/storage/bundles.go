package storage

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/session"
)

type storageReadFileIn struct {
	Path     string `json:"path"`
	ID       string `json:"id"`
	MaxBytes int    `json:"max_bytes"`
}

var storageReadFile = primitives.Define("storage.read_file", func(
	_ context.Context, p primitives.Page, in storageReadFileIn,
) (json.RawMessage, error) {
	s, err := session.Of(p, "storage.read_file", "storage.read_file")
	if err != nil {
		return nil, err
	}
	return orFault(s.StoredFile(p.Tab().URL, in.ID, in.Path, in.MaxBytes))
})

var storageList = primitives.Define("storage.list", func(
	_ context.Context, p primitives.Page, _ struct{},
) (json.RawMessage, error) {
	s, err := session.Of(p, "storage.list", "storage.read")
	if err != nil {
		return nil, err
	}
	return orFault(s.StoredPaths())
})

type storageImportBundleIn struct {
	Bundle json.RawMessage `json:"bundle"`
}

var storageImportBundle = primitives.Define("storage.import_bundle", func(
	_ context.Context, p primitives.Page, in storageImportBundleIn,
) (json.RawMessage, error) {
	s, err := session.Of(p, "storage.import_bundle", "storage.write")
	if err != nil {
		return nil, err
	}
	return orFault(s.ImportStored(in.Bundle))
})

// orFault keeps a nil fault from becoming an error that is not nil.
func orFault(raw json.RawMessage, f *fault.Error) (json.RawMessage, error) {
	if f != nil {
		return nil, f
	}
	return raw, nil
}
