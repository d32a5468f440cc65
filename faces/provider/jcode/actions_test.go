package jcode

import (
	"os"
	"path/filepath"
	"testing"
)

// A picture is a new file below the current folder, whatever its name says.
func TestAPictureReplacesNoFile(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside.png")
	if err := os.WriteFile(outside, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	here, temporary := t.TempDir(), t.TempDir()
	t.Chdir(here)
	t.Setenv("TMPDIR", temporary)
	for _, made := range []error{
		os.WriteFile("there.png", []byte("kept"), 0o600), os.Mkdir("folder", 0o700),
		os.Symlink(outside, "link.png"), os.Symlink(filepath.Dir(outside), "away"),
	} {
		if made != nil {
			t.Fatal(made)
		}
	}
	up, err := filepath.Rel(here, outside)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"there.png", "./folder/../there.png", up, outside, "link.png", "away/new.png", "away/outside.png", "../new.png",
	} {
		if path, err := saveScreenshot(name, []byte("picture")); err == nil {
			t.Errorf("%s was written to %s", name, path)
		}
	}
	for _, file := range []string{outside, "there.png"} {
		if text, err := os.ReadFile(file); err != nil || string(text) != "kept" {
			t.Errorf("%s holds %q, %v", file, text, err)
		}
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(outside), "new.png")); err == nil {
		t.Error("a picture was written through a link")
	}
	for _, name := range []string{
		"new.png", "folder/new.png", filepath.Join(here, "whole.png"), filepath.Join(temporary, "t.png"), "",
	} {
		path, err := saveScreenshot(name, []byte("picture"))
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != "picture" {
			t.Errorf("%s holds %q, %v", path, text, err)
		}
		if name == "" {
			_ = os.Remove(path)
		}
	}
}
