//go:build unix

package outfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/outrider-run/outrider/evidence/outfile"
)

func TestWriteGoesThroughLinks(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "shared")
	link := filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, []byte("old"), 0o640), os.Symlink("shared", link)); err != nil {
		t.Fatal(err)
	}
	if err := outfile.Write(link, []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil || string(text) != "new" {
		t.Errorf("the file has %q, %v, expected new", text, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v, %v, expected 0640", info.Mode(), err)
	}
	dangling := filepath.Join(dir, "dangling")
	if err := errors.Join(os.Symlink("later", dangling), outfile.Write(dangling, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "later")); err != nil {
		t.Errorf("a link that leads to no file yet: %v", err)
	}
}

func TestWhatIsNoRegularFileStays(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for name, try := range map[string]func() error{
		"write": func() error { return outfile.Write(pipe, []byte("x"), 0o600) },
		"claim": func() error { _, err := outfile.Claim(pipe, 0o600); return err },
		"read":  func() error { _, err := outfile.Read(pipe, 10); return err },
	} {
		if try() == nil {
			t.Errorf("%s of a pipe without another end: expected an error", name)
		}
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		t.Errorf("the pipe became %v, %v", info, err)
	}
	if err := outfile.Write(os.DevNull, []byte("x"), 0o600); err != nil {
		t.Errorf("%s: %v", os.DevNull, err)
	}
	if _, err := outfile.Read("/dev/zero", 10); err == nil {
		t.Error("reading a device: expected an error")
	}
}

func TestAFileIsClaimedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.rec")
	first, err := outfile.Claim(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.WriteString("kept"); err != nil {
		t.Fatal(err)
	}
	if _, err := outfile.Claim(path, 0o600); !errors.Is(err, outfile.ErrHeld) {
		t.Errorf("the second claim gave %v, expected that the file is held", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "kept" {
		t.Errorf("the file has %q, %v", text, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := outfile.Claim(path, 0o600)
	if err != nil {
		t.Fatalf("after the first has ended: %v", err)
	}
	_ = again.Close()
}
