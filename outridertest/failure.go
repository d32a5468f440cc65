package outridertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/outrider-run/outrider"
	"github.com/outrider-run/outrider/client"
)

// explain is an error with what it knows of the nearest elements.
func explain(err error) string {
	var e *outrider.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	text := e.Error()
	if e.NextStep != "" {
		text += "; " + e.NextStep
	}
	return text + nearest(e.Evidence)
}

// nearest says the names that come near, or how many each part of the locator left.
func nearest(looked map[string]any) string {
	var out string
	for _, member := range []string{"nearest", "candidates", "occluded_by", "reason"} {
		if value, ok := looked[member]; ok && value != nil {
			raw, err := json.Marshal(value)
			if err == nil && string(raw) != "[]" {
				out += fmt.Sprintf("\n\t%s: %s", member, raw)
			}
		}
	}
	return out
}

// keepAll writes what a page shows into a folder.
func keepAll(ctx context.Context, tab *outrider.Tab, dir string) (failed []error) {
	write := func(name string, data []byte, err error) {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o644)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
		}
	}
	picture, err := tab.Screenshot(ctx)
	write("page.png", picture, err)
	text, err := tab.Snapshot(ctx)
	write("page.txt", []byte(text), err)

	var lines strings.Builder
	console, err := client.ConsoleList(ctx, tab, client.ConsoleListArgs{Limit: 1000})
	if err == nil {
		for _, e := range console.Entries {
			fmt.Fprintf(&lines, "%s %s %s (%s:%d)\n", e.At, e.Level, e.Text, e.URL, e.Line)
		}
	}
	write("console.txt", []byte(lines.String()), err)
	lines.Reset()
	requests, err := client.NetworkList(ctx, tab, client.NetworkListArgs{Limit: 1000})
	if err == nil {
		for _, e := range requests.Entries {
			fmt.Fprintf(&lines, "%s %s %d %s %s %.0f ms %s\n",
				e.StartedAt, e.Method, e.Status, e.State, e.URL, e.DurationMS, e.Failure)
		}
	}
	write("requests.txt", []byte(lines.String()), err)
	return failed
}

// refs are what changes between two runs of an outline.
var refs = regexp.MustCompile(` \[ref=[a-z0-9]+\]`)

// ExpectSnapshot: the outline of the page, without refs, is that of the file NAME.txt of testdata. The flag
// -outrider.update writes it.
func (p *Page) ExpectSnapshot(name string) {
	p.t.Helper()
	path := filepath.Join("testdata", name+".txt")
	var got string
	read := func() {
		p.t.Helper()
		ctx, cancel := p.within(p.Patience)
		defer cancel()
		text, err := p.tab.Snapshot(ctx)
		p.must("reading the page", err)
		got = refs.ReplaceAllString(text, "")
	}
	if *update {
		read()
		p.write(path, []byte(got))
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatalf("%v; -outrider.update writes it", err)
	}
	for until := time.Now().Add(p.Patience); ; {
		before := p.state()
		read()
		if got == string(want) {
			return
		}
		if time.Now().After(until) {
			p.t.Fatalf("the page is not that of %s\n--- want\n%s\n--- got\n%s", path, want, got)
		}
		ctx, cancel := p.within(p.Patience)
		_, err := p.tab.BySelector("html").Changed(ctx, outrider.Reading{}, before, time.Until(until))
		cancel()
		if err != nil && !again(err) {
			p.must("waiting for the page", err)
		}
	}
}

// state is that of the whole document now.
func (p *Page) state() string {
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	found, err := p.tab.BySelector("html").Read(ctx, outrider.Reading{})
	if err != nil {
		return ""
	}
	return found.State
}

func (p *Page) write(path string, data []byte) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// ExpectPicture: what the viewport shows is the file NAME.png of testdata, but for at most so many pixels. The flag
// -outrider.update writes it. Pictures differ between browsers and machines: keep them for one of each.
func (p *Page) ExpectPicture(name string, differing int) {
	p.t.Helper()
	path := filepath.Join("testdata", name+".png")
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	got, err := p.tab.Screenshot(ctx)
	p.must("taking a picture", err)
	if *update {
		p.write(path, got)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatalf("%v; -outrider.update writes it", err)
	}
	n, err := differs(want, got)
	if err != nil || n > differing {
		dir := p.t.ArtifactDir()
		_ = os.WriteFile(filepath.Join(dir, filepath.Base(name)+".got.png"), got, 0o644)
		if err != nil {
			p.t.Fatalf("%s: %v", path, err)
		}
		p.t.Fatalf("%s: %d pixels differ, at most %d may; the picture is in %s", path, n, differing, dir)
	}
}

// differs counts the pixels that are not equal.
func differs(a, b []byte) (int, error) {
	want, err := png.Decode(bytes.NewReader(a))
	if err != nil {
		return 0, err
	}
	got, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return 0, err
	}
	if want.Bounds() != got.Bounds() {
		return 0, fmt.Errorf("the size is %v, not %v", got.Bounds().Size(), want.Bounds().Size())
	}
	return unequal(want, got), nil
}

func unequal(want, got image.Image) (n int) {
	r := want.Bounds()
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if want.At(x, y) != got.At(x, y) {
				n++
			}
		}
	}
	return n
}

// convert decodes a value that was decoded loosely into a result of another type.
func convert(value, result any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, result)
}
