package outridertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/outrider-run/outrider"
	"github.com/outrider-run/outrider/client"
	"github.com/outrider-run/outrider/evidence/picture"
)

// PageExpectation has the assertions about a page. One that does not come true within [Page.Patience] fails the test.
type PageExpectation struct {
	page *Page
	not  bool
}

// Expect begins an assertion about the page.
func (p *Page) Expect() PageExpectation { return PageExpectation{page: p} }

// Not makes the opposite of the assertions.
func (e PageExpectation) Not() PageExpectation {
	e.not = !e.not
	return e
}

func (e PageExpectation) fail(want, got string) {
	e.page.t.Helper()
	if e.not {
		want = "not " + want
	}
	e.page.t.Fatalf("expected %s\n\tfound    %s", want, got)
}

// until judges again after each change until it holds. changed waits for one, and is false when the time is over.
func (e PageExpectation) until(want string, judged func() (ok bool, got string), changed func() bool) {
	e.page.t.Helper()
	for {
		ok, got := judged()
		if ok != e.not {
			return
		}
		if !changed() {
			e.fail(want, got)
		}
	}
}

// URL: the address of the page is this: a glob when it has a star, else a part of it.
func (e PageExpectation) URL(want string) {
	p := e.page
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	raw, err := json.Marshal(want)
	p.must("reading the address", err)
	waiting, stop := context.WithTimeout(ctx, p.Patience)
	defer stop()
	next, end := iter.Pull(p.session.Events(waiting))
	defer end()
	e.until("the address "+want, func() (bool, string) {
		_, err := client.PageWait(ctx, p.tab, client.PageWaitArgs{
			Conditions: []client.PageWaitCondition{{URL: raw}}, TimeoutMS: new(0),
		})
		if err != nil && !errors.Is(err, outrider.Code("timeout")) {
			p.must("reading the address", err)
		}
		return err == nil, p.tab.URL()
	}, func() bool {
		_, ok := next()
		return ok
	})
}

// Title: the title of the page is this.
func (e PageExpectation) Title(want string) {
	p := e.page
	p.t.Helper()
	waiting, stop := context.WithTimeout(p.t.Context(), p.Patience)
	defer stop()
	next, end := iter.Pull(p.session.Events(waiting))
	defer end()
	e.until("the title "+quoted(want), func() (bool, string) {
		title := p.tab.Title()
		return title == want, quoted(title)
	}, func() bool {
		_, ok := next()
		return ok
	})
}

// ofDocument is changed for until: it waits for a change of the document. What was judged last has begun after the end
// of the patience: on a busy machine one look may take all of it.
func (p *Page) ofDocument() (changed func() bool) {
	until := time.Now().Add(p.Patience)
	state := ""
	over := false
	return func() bool {
		if over {
			return false
		}
		over = time.Now().After(until)
		if over {
			return true
		}
		ctx, cancel := p.within(p.Patience)
		defer cancel()
		found, err := p.tab.BySelector("html").Changed(ctx, outrider.Reading{}, state, time.Until(until))
		switch {
		case err == nil:
			state = found.State
		case !again(err):
			p.must("waiting for the page", err)
		}
		return true
	}
}

// refs are what changes between two runs of an outline.
var refs = regexp.MustCompile(` \[ref=[a-z0-9]+\]`)

// golden is a file of testdata, and whether it was just written because of -outrider.update.
func (e PageExpectation) golden(name string, now func() []byte) (path string, want []byte, written bool) {
	p := e.page
	p.t.Helper()
	path = filepath.Join("testdata", name)
	if *update && !e.not {
		p.write(path, now())
		return path, nil, true
	}
	want, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatalf("%v; -outrider.update writes it", err)
	}
	return path, want, false
}

// Snapshot: the outline of the page, without refs, is that of the file NAME.txt of testdata. The flag
// -outrider.update writes it.
func (e PageExpectation) Snapshot(name string) {
	p := e.page
	p.t.Helper()
	read := func() []byte {
		p.t.Helper()
		ctx, cancel := p.within(p.Patience)
		defer cancel()
		text, err := p.tab.Snapshot(ctx)
		p.must("reading the page", err)
		return []byte(refs.ReplaceAllString(text, ""))
	}
	path, want, written := e.golden(name+".txt", read)
	if written {
		return
	}
	e.until("the page of "+path, func() (bool, string) {
		got := string(read())
		return got == string(want), fmt.Sprintf("another\n--- want\n%s\n--- got\n%s", want, got)
	}, p.ofDocument())
}

// Picture: what the viewport shows is the file NAME.png of testdata, but for at most so many pixels that somebody could
// see. It is taken when fonts and pictures are there and animations have ended. The flag -outrider.update writes it.
// Pictures differ between browsers and machines: keep them for one of each.
func (e PageExpectation) Picture(name string, differing int) {
	p := e.page
	p.t.Helper()
	var got []byte
	take := func() []byte {
		p.t.Helper()
		ctx, cancel := p.within(p.Patience)
		defer cancel()
		r, err := client.BrowserScreenshot(ctx, p.tab, client.BrowserScreenshotArgs{Stable: true})
		p.must("taking a picture", err)
		got, err = r.Image()
		p.must("reading a picture", err)
		return got
	}
	path, want, written := e.golden(name+".png", take)
	if written {
		return
	}
	p.t.Cleanup(func() {
		if p.t.Failed() && got != nil {
			_ = os.WriteFile(filepath.Join(p.t.ArtifactDir(), filepath.Base(name)+".got.png"), got, 0o644)
		}
	})
	e.until("the picture "+path, func() (bool, string) {
		d, err := picture.Compare(want, take(), picture.Perceptual)
		if err != nil {
			return false, err.Error()
		}
		same := d.Equal() || d.Sizes[0] == d.Sizes[1] && d.Pixels <= differing
		if same {
			got = nil
		}
		return same, fmt.Sprintf("%s: at most %d may", d, differing)
	}, p.ofDocument())
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

// none fails the test where there are some, or none with Not. It does not wait.
func (e PageExpectation) none(of string, all []string) {
	e.page.t.Helper()
	if (len(all) == 0) == e.not {
		e.fail("no "+of, fmt.Sprintf("%d%s", len(all), strings.Join(all, "")))
	}
}

// NoConsoleErrors: the page wrote no errors to its console since the test began, and threw none. It does not wait.
func (e PageExpectation) NoConsoleErrors() {
	p := e.page
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	r, err := client.ConsoleList(ctx, p.tab, client.ConsoleListArgs{Levels: []string{"error"}})
	p.must("reading the console", err)
	var all []string
	for _, e := range r.Entries {
		all = append(all, "\n\t"+e.Text)
	}
	e.none("console errors", all)
}

// NoFailedRequests: no request of the page failed since the test began, or was answered with a status of 400 or more.
// It does not wait.
func (e PageExpectation) NoFailedRequests() {
	p := e.page
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	r, err := client.NetworkList(ctx, p.tab, client.NetworkListArgs{Limit: 1000})
	p.must("reading requests", err)
	var all []string
	for _, e := range r.Entries {
		if e.Status >= 400 || e.State == "failed" && !e.Cancelled {
			all = append(all, fmt.Sprintf("\n\t%s %s: %d %s", e.Method, e.URL, e.Status, e.Failure))
		}
	}
	e.none("failed requests", all)
}
