package filewatch_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/sites/filewatch"
)

func write(t testing.TB, text string, path ...string) {
	t.Helper()
	name := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tree writes files below a folder of the test.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		write(t, text, root, filepath.FromSlash(name))
	}
	return root
}

func TestWatch(t *testing.T) {
	root := tree(t, map[string]string{"sites/a.test/m/actions.json": `{"a":1}`, "named/my.json": `{"n":1}`})
	folder, file := filepath.Join(root, "sites"), filepath.Join(root, "named", "my.json")
	ctx, cancel := context.WithCancel(t.Context())
	changes, ended := make(chan struct{}, 100), make(chan error, 1)
	ready, err := filewatch.Counts([]string{folder, file}, file)
	if err != nil || !ready {
		t.Fatalf("counts %v, %v", ready, err)
	}
	go func() { ended <- filewatch.Watch(ctx, []string{folder, file}, func() { changes <- struct{}{} }) }()
	// The watch may not stand yet at the first change, so that is repeated.
	started := false
	for i := 0; !started; i++ {
		write(t, fmt.Sprintf(`{"a":%d}`, i), folder, "a.test/m/actions.json")
		select {
		case <-changes:
			started = true
		case <-time.After(time.Second):
			if i == 30 {
				t.Fatal("no change was noticed")
			}
		}
	}
	for _, s := range []struct {
		name string
		do   func()
	}{
		{"an edit", func() { write(t, `{"b":1}`, folder, "a.test/m/actions.json") }},
		{"a new site", func() { write(t, `{"b":1}`, folder, "b.test/x/y/actions.json") }},
		{"an edit of the new site", func() { write(t, `{"c":1}`, folder, "b.test/x/y/actions.json") }},
		{"a removal", func() { os.Remove(filepath.Join(folder, "a.test/m/actions.json")) }},
		{"a replacement of the named file, as editors do", func() {
			write(t, `{"m":1}`, root, "named", ".my.json.swp")
			if err := os.Rename(filepath.Join(root, "named", ".my.json.swp"), file); err != nil {
				t.Fatal(err)
			}
		}},
		{"a part beside the named file", func() { write(t, `{"p":1}`, root, "named", "part.json") }},
	} {
		s.do()
		select {
		case <-changes:
		case <-time.After(20 * time.Second):
			t.Fatalf("%s was not noticed", s.name)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestWatchPassesOverWhatAreNoMaps(t *testing.T) {
	root := tree(t, map[string]string{"sites/a.test/m/actions.json": `{}`, "logs/x": "", "named/my.json": `{}`})
	paths := []string{filepath.Join(root, "sites"), filepath.Join(root, "named", "my.json")}
	for name, want := range map[string]bool{
		"sites/a.test/m/actions.json": true, "sites/a.test/m/SKILL.md": true,
		"sites/new": true, "sites/a.test/m/.actions.json.swp": false,
		"sites/a.test/m/actions.json~": false, "sites/a.test/m/runs.jsonl": false,
		"sites/.git": false, "sites/logs": false,
		"named/my.json": true, "named/part.json": true, "named/notes.txt": false, "elsewhere/actions.json": false,
	} {
		if got, err := filewatch.Counts(paths, filepath.Join(root, filepath.FromSlash(name))); err != nil ||
			got != want {
			t.Errorf("%s: %v, %v, want %v", name, got, err, want)
		}
	}
	if err := filewatch.Watch(t.Context(), []string{filepath.Join(root, "nothing/here")}, func() {}); err == nil ||
		!strings.Contains(err.Error(), "nothing") {
		t.Errorf("watching what is not there: %v", err)
	}
}
