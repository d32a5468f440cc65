package ownfolder_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/outrider-run/outrider/internal/ownfolder"
)

// The next process removes what a killed one left, and nothing of one that lives.
func TestFoldersOfKilledProcessesGo(t *testing.T) {
	base := t.TempDir()
	living, end, err := ownfolder.New(base, "own-")
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	killed := filepath.Join(base, "own-killed")
	elsewhere := t.TempDir()
	other := filepath.Join(base, "another")
	if err := errors.Join(
		os.MkdirAll(filepath.Join(killed, "job"), 0o700),
		os.MkdirAll(other, 0o700),
		os.Symlink(elsewhere, filepath.Join(base, "own-link")),
	); err != nil {
		t.Fatal(err)
	}
	next, endNext, err := ownfolder.New(base, "own-")
	if err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{
		living: true, killed: false, next: true, elsewhere: true, other: true,
	} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", dir, err == nil, want)
		}
	}
	endNext()
	if _, err := os.Stat(next); err == nil {
		t.Error("a process that ended left its folder")
	}
}
