// Package watch runs cases of plans again when a file that they need has changed: the plan, those
// around it, its maps with their lock files, data, recorded answers, variables. It opens no browser and
// does not read plans by itself. The verb run gives it both, so that the browser stays open.
package watch

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/sites/filewatch"
)

// Options say what is watched, and what is done.
type Options struct {
	// Paths are the plan files, globs and folders of the run.
	Paths []string
	// Maps are the maps of every case; nil are those that the plans name.
	Maps []string
	// Every are files that every case needs.
	Every []string
	// Settings are files that are read at the start only. A change of one is reported, and has
	// no effect until then.
	Settings []string
	// Own are files that the run writes: a change of them is none.
	Own []string
	// Load reads the plans.
	Load func() (*plan.Suite, error)
	// Run runs cases and shows them.
	Run func(ctx context.Context, s *plan.Suite) plan.RunResult
	// Done is called after each round with the newest result of every case.
	Done func(all plan.RunResult) error
	// Keys are lines that somebody types; nil is nobody.
	Keys io.Reader
	// Say gets one line for people at a time.
	Say func(text string)
}

// Run runs all cases, and those that a change touches after each change, until ctx ends or
// somebody types q. It returns the newest result of every case.
func Run(ctx context.Context, o Options) (plan.RunResult, error) {
	w := &watcher{Options: o}
	suite, err := o.Load()
	if err != nil {
		return plan.RunResult{}, err
	}
	for _, name := range o.Own {
		w.own = append(w.own, absolute(name))
	}
	w.suite = suite
	keys := w.keys(ctx)
	pending := w.suite.Cases
	for {
		if err := w.follow(); err != nil {
			return w.result, err
		}
		if len(pending) > 0 {
			if err := w.round(ctx, pending); err != nil {
				w.stop()
				return w.result, err
			}
		}
		more := false
		pending, more = w.next(ctx, keys)
		w.stop()
		if !more {
			return w.result, nil
		}
	}
}

type watcher struct {
	Options
	own    []string
	suite  *plan.Suite
	result plan.RunResult
	wrong  string           // why the plans cannot be read
	files  map[string]stamp // of everything that some case needs, as it was at the last round

	changed chan struct{}
	stop    func()
}

// follow begins to watch what the cases need. Nothing that changes afterwards is missed.
func (w *watcher) follow() error {
	paths := slices.Concat(w.Every, w.Settings)
	for _, c := range w.suite.Cases {
		paths = append(paths, w.needs(c)...)
	}
	for _, p := range w.Paths {
		if info, err := os.Stat(p); err == nil && info.IsDir() {
			paths = append(paths, p)
		} else if base, _ := doublestar.SplitPattern(filepath.ToSlash(p)); err != nil {
			paths = append(paths, filepath.FromSlash(base))
		}
	}
	slices.Sort(paths)
	watching, err := filewatch.Open(slices.Compact(paths))
	if err != nil {
		return err
	}
	w.changed = make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		watching.Run(ctx, func() {
			select {
			case w.changed <- struct{}{}:
			default:
			}
		})
	}()
	w.stop = func() {
		cancel()
		<-ended
	}
	if w.files == nil {
		w.files = w.stamps()
	}
	w.changed <- struct{}{} // what changed before the watch stood is found at once
	return nil
}

// needs are the files and folders of a case.
func (w *watcher) needs(c *spec.Case) []string {
	maps := w.Maps
	if maps == nil {
		maps = c.Maps()
	}
	out := slices.Concat(c.Files(), c.Data(), c.Routed(), maps)
	if states, err := c.States(); err == nil {
		out = append(out, states...)
	}
	for _, m := range maps {
		if info, err := os.Stat(m); err == nil && !info.IsDir() {
			out = append(out, filepath.Join(filepath.Dir(m), "actions.lock.json"))
		}
	}
	return out
}

// round runs cases and keeps their results.
func (w *watcher) round(ctx context.Context, cases []*spec.Case) error {
	ids := map[string]bool{}
	for _, c := range cases {
		ids[c.ID] = true
	}
	w.result = w.result.With(w.suite, w.Run(ctx, w.suite.Only(ids)))
	if ctx.Err() != nil {
		return nil
	}
	if err := w.Done(w.result); err != nil {
		return err
	}
	w.Say(fmt.Sprintf("watching %d files; type Enter to run all, f for what failed, q to end", len(w.files)))
	return nil
}

// next waits for something to do, and returns the cases to run.
func (w *watcher) next(ctx context.Context, keys <-chan string) (cases []*spec.Case, more bool) {
	for {
		select {
		case <-ctx.Done():
			return nil, false
		case <-w.changed:
			if cases, changed := w.touched(); changed {
				return cases, true
			}
		case key, ok := <-keys:
			switch {
			case !ok:
				keys = nil
			case key == "q":
				return nil, false
			case key == "":
				return w.suite.Cases, true
			case key == "f":
				if cases := w.failed(); len(cases) > 0 {
					return cases, true
				}
				w.Say("nothing failed")
			default:
				w.Say("type Enter to run all, f for what failed, q to end")
			}
		}
	}
}

// failed are the cases that are not well.
func (w *watcher) failed() (out []*spec.Case) {
	for i, c := range w.suite.Cases {
		if i < len(w.result.Cases) && !w.result.Cases[i].OK {
			out = append(out, c)
		}
	}
	return out
}

// touched are the cases that need a file which has changed, and those that are new.
// changed is false when nothing is to be done.
func (w *watcher) touched() (cases []*spec.Case, changed bool) {
	now := w.stamps()
	var names []string
	for name, s := range now {
		if old, ok := w.files[name]; !ok || old.sum != s.sum {
			names = append(names, name)
		}
	}
	for name := range w.files {
		if _, still := now[name]; !still {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, f := range w.Settings {
		if slices.Contains(names, absolute(f)) {
			w.Say(f + " has changed: its settings count from the next start")
		}
	}
	known := map[string]bool{}
	for _, c := range w.suite.Cases {
		known[c.ID] = true
	}
	suite, err := w.Load()
	w.files = now
	if err != nil {
		if text := err.Error(); text != w.wrong { // it is said once
			w.wrong = text
			w.Say(text)
		}
		return nil, false
	}
	w.wrong = ""
	every := slices.ContainsFunc(w.Every, func(f string) bool { return slices.Contains(names, absolute(f)) })
	for _, c := range suite.Cases {
		if every || !known[c.ID] || slices.ContainsFunc(w.needs(c), func(need string) bool {
			need = absolute(need)
			return slices.ContainsFunc(names, func(name string) bool {
				return name == need || strings.HasPrefix(name, need+string(filepath.Separator))
			})
		}) {
			cases = append(cases, c)
		}
	}
	if len(cases) == 0 && len(suite.Cases) == len(known) {
		return nil, false
	}
	w.suite = suite
	w.files = w.stamps()
	for name := range w.files {
		if _, ok := now[name]; !ok {
			names = append(names, name) // it is needed from here on
		}
	}
	slices.Sort(names)
	what := report.Shorten(strings.Join(relative(names), ", "), 200)
	w.Say(fmt.Sprintf("changed: %s; %d of %d cases", what, len(cases), len(suite.Cases)))
	return cases, true
}

// stamp is what tells a file from itself after a change. One that is written again with
// the same content is the same. The content is read when size or time differ.
type stamp struct {
	size int64
	at   time.Time
	sum  [sha256.Size]byte
}

// maxFiles bounds how many files are looked at.
const maxFiles = 20_000

// stamps are those of every file that a case needs.
func (w *watcher) stamps() map[string]stamp {
	out := map[string]stamp{}
	add := func(name string, info os.FileInfo) {
		if len(out) == maxFiles || slices.Contains(w.own, name) {
			return
		}
		s := stamp{size: info.Size(), at: info.ModTime()}
		if old, ok := w.files[name]; ok && old.size == s.size && old.at.Equal(s.at) {
			s.sum = old.sum
		} else if content, err := os.ReadFile(name); err == nil {
			s.sum = sha256.Sum256(content)
		}
		out[name] = s
	}
	look := func(path string) {
		path = absolute(path)
		if _, seen := out[path]; seen {
			return
		}
		info, err := os.Stat(path)
		switch {
		case err != nil:
		case !info.IsDir():
			add(path, info)
		default:
			_ = filepath.WalkDir(path, func(name string, d os.DirEntry, err error) error {
				if err != nil || d.IsDir() || filepath.Ext(name) != ".json" {
					return nil //nolint:nilerr // what cannot be read is not watched
				}
				if info, err := d.Info(); err == nil {
					add(name, info)
				}
				return nil
			})
		}
	}
	for _, f := range slices.Concat(w.Every, w.Settings) {
		look(f)
	}
	for _, c := range w.suite.Cases {
		for _, need := range w.needs(c) {
			look(need)
		}
	}
	return out
}

// keys reads lines until the reader ends. The goroutine lives as long as a line is waited for,
// which nothing can interrupt: for standard input that is the process.
func (w *watcher) keys(ctx context.Context) <-chan string {
	if w.Keys == nil {
		return nil
	}
	out := make(chan string)
	go func() {
		defer close(out)
		for lines := bufio.NewScanner(w.Keys); lines.Scan(); {
			select {
			case out <- strings.TrimSpace(lines.Text()):
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

func absolute(name string) string {
	if abs, err := filepath.Abs(name); err == nil {
		return abs
	}
	return name
}

// relative are names as somebody in the working folder calls them.
func relative(names []string) []string {
	here, err := os.Getwd()
	out := slices.Clone(names)
	for i, name := range names {
		if rel, relErr := filepath.Rel(here, name); err == nil && relErr == nil && filepath.IsLocal(rel) {
			out[i] = filepath.ToSlash(rel)
		}
	}
	return out
}
