// Package filewatch reports when the files of maps have changed and are quiet
// again. It reads none of them and does not say what changed. The runtime calls
// it to reload maps.
package filewatch

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/outrider-run/outrider/sites/location"
)

// How long files must be left alone before a change counts as over, and how
// long it may go on at most.
const (
	watchQuiet   = 200 * time.Millisecond
	watchLongest = 2 * time.Second
)

// maxWatched bounds the folders that are watched; the system has a limit too.
const maxWatched = 8_000

// Watch calls changed after files below paths, or the files that paths name,
// have changed and are quiet again. It returns when ctx ends, or at once when
// nothing can be watched. changed is called from this goroutine, so changes that
// happen meanwhile make one more call. What happened is not reported: a reload finds
// out. Not every change is one of the maps; some files are known to be none,
// such as logs and what editors leave beside a file.
func Watch(ctx context.Context, paths []string, changed func()) error {
	w, err := Open(paths)
	if err != nil {
		return err
	}
	w.Run(ctx, changed)
	return nil
}

// Watching is an open watch. Run reports each change after Open.
type Watching struct{ w *watcher }

// Open begins to watch. Run has to follow.
func Open(paths []string) (*Watching, error) {
	w, err := newWatcher(paths)
	if err != nil {
		return nil, err
	}
	return &Watching{w}, nil
}

// Run is Watch of what was opened. It is called once.
func (o *Watching) Run(ctx context.Context, changed func()) {
	defer func() { _ = o.w.notify.Close() }()
	_ = o.w.run(ctx, changed)
}

type watcher struct {
	notify  *fsnotify.Watcher
	folders map[string]bool // roots whose whole tree counts
	files   map[string]bool // single files, watched through their folder
	watched int
}

func newWatcher(paths []string) (*watcher, error) {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watching for changes: %w", err)
	}
	w := &watcher{notify: notify, folders: map[string]bool{}, files: map[string]bool{}}
	for _, p := range paths {
		if err := w.addPath(p); err != nil {
			_ = notify.Close()
			return nil, err
		}
	}
	return w, nil
}

// addPath watches a folder with all below it, or the folder of a file: editors
// replace a file, so the file itself would be lost.
func (w *watcher) addPath(p string) error {
	abs, err := filepath.Abs(p)
	if err != nil {
		return fmt.Errorf("watching %s: %w", p, err)
	}
	for _, name := range []string{abs, real(abs)} {
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			w.folders[name] = true
			w.addTree(name)
			continue
		}
		w.files[name] = true
		// The parts that a map imports lie beside it.
		w.addFolder(filepath.Dir(name))
	}
	if w.watched == 0 {
		return fmt.Errorf("watching %s: nothing can be watched", p)
	}
	return nil
}

func real(name string) string {
	if r, err := filepath.EvalSymlinks(name); err == nil {
		return r
	}
	return name
}

// addTree watches a folder and those below it. What cannot be read has no maps.
func (w *watcher) addTree(root string) {
	_ = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && d != nil && d.IsDir():
			return fs.SkipDir
		case err != nil || !d.IsDir():
			return nil
		case name != root && unwatched(d.Name()):
			return fs.SkipDir
		case w.watched >= maxWatched:
			return fs.SkipAll
		}
		w.addFolder(name)
		return nil
	})
}

func (w *watcher) addFolder(name string) {
	if w.notify.Add(name) == nil {
		w.watched++
	}
}

// unwatched reports whether a folder holds nothing that maps are made of.
func unwatched(name string) bool { return location.HoldsNoMaps(name) || name == "logs" }

// counts reports whether a change of name may be one of maps.
func (w *watcher) counts(name string) bool {
	base := filepath.Base(name)
	if strings.HasPrefix(base, ".") || strings.HasSuffix(base, "~") || strings.HasSuffix(base, ".jsonl") ||
		unwatched(base) {
		return false
	}
	if w.files[name] {
		return true
	}
	for dir := filepath.Dir(name); ; dir = filepath.Dir(dir) {
		if w.folders[dir] || w.folders[name] {
			return true
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	// A part beside a file that the user named.
	for f := range w.files {
		if filepath.Dir(f) == filepath.Dir(name) && strings.HasSuffix(base, ".json") {
			return true
		}
	}
	return false
}

func (w *watcher) run(ctx context.Context, changed func()) error {
	over := time.NewTimer(time.Hour)
	over.Stop()
	defer over.Stop()
	var since time.Time // of the first change that is not reported yet
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-over.C:
			since = time.Time{}
			changed()
			continue
		case ev, ok := <-w.notify.Events:
			if !ok {
				return nil
			}
			if ev.Op == fsnotify.Chmod || !w.counts(ev.Name) {
				continue
			}
			if ev.Has(fsnotify.Create) {
				if info, err := os.Stat(ev.Name); err == nil && info.IsDir() {
					w.addTree(ev.Name)
				}
			}
		case _, ok := <-w.notify.Errors:
			if !ok {
				return nil
			}
			// Events were lost: anything may have changed.
		}
		if since.IsZero() {
			since = time.Now()
		}
		over.Reset(max(0, min(watchQuiet, watchLongest-time.Since(since))))
	}
}
