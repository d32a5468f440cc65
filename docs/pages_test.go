// Package docs holds the documentation to what the program does: the blocks of
// its pages that are marked as runnable are run here, in order, in fresh
// folders, with the real binary and a real Chromium.
//
// A block begins with three backticks and one of these:
//
//	sh runnable       commands; they run as written, in one shell for each page
//	LANG file=PATH    a file that the reader saves
//	text output       what the block of commands before it prints: each line in
//	                  this order, where … stands for anything
//
// The pages of the tutorial share one folder and one shell.
package docs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
)

// block is one fenced block of a page.
type block struct {
	page string
	line int
	info string
	text string
}

func (b block) place() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

func (b block) file() (string, bool) {
	for word := range strings.FieldsSeq(b.info) {
		if name, ok := strings.CutPrefix(word, "file="); ok {
			return name, true
		}
	}
	return "", false
}

const (
	runnable = "sh runnable"
	output   = "text output"
)

func blocksOf(t *testing.T, page string) (all []block) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	open := false
	for i, line := range strings.Split(string(text), "\n") {
		info, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && !open:
			all = append(all, block{page: page, line: i + 1, info: info})
			open = true
		case fence:
			open = false
		case open:
			all[len(all)-1].text += line + "\n"
		}
	}
	if open {
		t.Fatalf("%s: a block is not closed", all[len(all)-1].place())
	}
	return all
}

func TestTutorial(t *testing.T) {
	pages, err := filepath.Glob("tutorial/[0-9]-*.md")
	if err != nil || len(pages) < 3 {
		t.Fatalf("the tutorial has pages %v: %v", pages, err)
	}
	slices.Sort(pages)
	var all []block
	for _, page := range pages {
		all = append(all, blocksOf(t, page)...)
	}
	followsWorkflow(t, all)
	run(t, all, "")
}

func TestHowTo(t *testing.T) {
	pages, err := filepath.Glob("how-to/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("how-to has pages %v: %v", pages, err)
	}
	bin := t.TempDir()
	build := exec.CommandContext(
		t.Context(), "go", "build", "-trimpath", "-o", filepath.Join(bin, "outrider"), "./cmd/outrider",
	)
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, page := range pages {
		all := blocksOf(t, page)
		if !slices.ContainsFunc(all, func(b block) bool { return b.info == runnable }) {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) { run(t, all, bin) })
	}
}

var workflowRun = regexp.MustCompile(`(?m)^\s*- run: (.+)$`)

// followsWorkflow holds the commands of a workflow file to those that ran: the
// workflow itself runs only on a server.
func followsWorkflow(t *testing.T, all []block) {
	t.Helper()
	var ran []string
	for _, b := range all {
		if b.info == runnable {
			ran = append(
				ran, strings.Split(strings.ReplaceAll(b.text, `"$APP"`, `"file://$PWD/app/index.html"`), "\n")...,
			)
		}
	}
	found := false
	for _, b := range all {
		if name, ok := b.file(); !ok || !strings.HasPrefix(name, ".github/") {
			continue
		}
		for _, m := range workflowRun.FindAllStringSubmatch(b.text, -1) {
			found = true
			if !slices.Contains(ran, m[1]) {
				t.Errorf("%s: the workflow runs %q, which no block of commands does", b.place(), m[1])
			}
		}
	}
	if !found {
		t.Error("the tutorial has no workflow file with commands")
	}
}

// run plays the reader of a page: it saves the files and runs the commands.
// installed is a folder that has outrider; without one the page installs it.
func run(t *testing.T, all []block, installed string) {
	t.Helper()
	env := readersMachine(t, installed)
	const mark = "--- end of a block ---"
	var script strings.Builder
	var commands []block
	script.WriteString("set -eu\n")
	for i, b := range all {
		if name, ok := b.file(); ok {
			// A file may be saved again by a later page, so it is written when its turn comes.
			end := fmt.Sprintf("END_OF_FILE_%d", i)
			fmt.Fprintf(&script, "mkdir -p '%s'\ncat > '%s' <<'%s'\n%s%s\n", filepath.Dir(name), name, end, b.text, end)
			continue
		}
		if b.info == runnable {
			fmt.Fprintf(&script, "%s\nprintf '%%s\\n' '%s'\n", b.text, mark)
			commands = append(commands, b)
		}
	}

	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", script.String())
	cmd.Dir, cmd.Env = t.TempDir(), env
	cmd.WaitDelay = 10 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	parts := strings.Split(stdout.String(), mark+"\n")
	if err != nil {
		at := "after the last block"
		if n := len(parts) - 1; n < len(commands) {
			at = commands[n].place()
		}
		t.Fatalf("%s: %v\nstdout of this block:\n%s\nstderr:\n%s", at, err, parts[len(parts)-1], stderr.String())
	}
	n := -1
	for _, b := range all {
		switch b.info {
		case runnable:
			n++
		case output:
			if n < 0 {
				t.Fatalf("%s: output before any command", b.place())
			}
			if line, ok := shows(parts[n], b.text); !ok {
				t.Errorf("%s: the commands do not print, in this order: %s\nthey print:\n%s", b.place(), line, parts[n])
			}
		}
	}
}

// shows says whether the lines of want are in got, in this order; if not, which
// is not.
func shows(got, want string) (string, bool) {
	for line := range strings.Lines(want) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		for piece := range strings.SplitSeq(line, "…") {
			i := strings.Index(got, piece)
			if i < 0 {
				return line, false
			}
			got = got[i+len(piece):]
		}
	}
	return "", true
}

// readersMachine is the environment of somebody who follows a page: a home of
// its own, and this repository where the public one is named.
func readersMachine(t *testing.T, installed string) []string {
	t.Helper()
	browsers := browsertest.Environment(t)
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	env := append(append(os.Environ(), browsers...),
		"HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"), "TMPDIR="+home,
		"GOBIN="+filepath.Join(home, "bin"),
		"GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_0=url."+root+".insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/outrider-run/outrider",
		"GIT_CONFIG_KEY_1=safe.directory", "GIT_CONFIG_VALUE_1=*",
	)
	for _, name := range []string{"GOPATH", "GOCACHE", "GOMODCACHE"} {
		out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, name+"="+strings.TrimSpace(string(out)))
	}
	if installed != "" {
		env = append(env, "PATH="+installed+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	return env
}
