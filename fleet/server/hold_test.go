package server_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/fleet/server"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Two servers never have one folder; the next one has it when the first has ended.
func TestOneServerHasAFolder(t *testing.T) {
	o := server.Options{Listen: "127.0.0.1:0", Data: filepath.Join(t.TempDir(), "data")}
	first, err := server.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	second, err := server.Start(t.Context(), o)
	if err == nil {
		second.Close()
		t.Fatal("a second server has the folder too")
	}
	if want := "in use by process " + strconv.Itoa(os.Getpid()); !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	first.Close()
	third, err := server.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	third.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Start(t.Context(), server.Options{
		Listen: "127.0.0.1:0",
		Data:   file,
	}); fault.CodeOf(err) != fault.InvalidInput {
		t.Errorf("a file for a folder: got %v", err)
	}
}
