package tasks_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/outridertest"
)

func TestMain(m *testing.M) { os.Exit(outridertest.Run(m)) } // layering:allow

// pages are the documents that the tasks are done on, in place of the live sites of the others.
var pages = map[string]string{
	"/click": `<button id=pkg-examples onclick="document.querySelector('#example-After').hidden = false">Expand</button>
<div id=example-After hidden><textarea>After</textarea></div><footer>Go</footer>`,
	"/download_file": `<details><summary>Code</summary><a href="/a.zip" download>Download ZIP</a></details>`,
	"/text":          `<section><h2 id=pkg-overview>Overview</h2> Package time</section>`,
	"/logic": `<p>Other</p><ul><li>No</ul><p>More</p><p>Selenium and browser control tools</p>
<ul><li><a href="/rod">rod</a> drives<li><a href="/cdp">cdp</a> speaks</ul>`,
	"/remote": `<a id=logo_homepage_link href="/">Home</a>`,
	"/submit": `<form action="/found"><input name=q></form>`,
	"/found": `<article><a href="/x">other</a><p>No</p></article>
<article><a href="/c">chromedp/chromedp</a><p>Yes</p></article>`,
	"/keys": `<input id=input1 value="some value"><textarea id=textarea1>textarea</textarea>
<input id=input2 type=submit>
<select id=select1><option value=one>1<option value=two>2<option value=three>3<option value=four>4</select>`,
	"/subtree": `<h1 id=title class=link><a href="/hello">content</a><span>hello</span> world</h1>`,
	"/upload": `<form method=POST action="/sent" enctype="multipart/form-data"><input name=upload type=file>
<input name=submit type=submit></form>`,
	"/visible": `<div id=box1 style="display:none"><div id=box2><p>box2</p></div></div>`,
	"/shot":    `<div id=box>Box</div>`,
	"/proxied": `<p>test</p>`,
	"/title":   `<title>fancy website title</title><a id=foo href="/foo">foo</a>`,
	"/foo":     `<title>Foo</title><a id=next href="/title">next</a>`,
	"/html":    `<div id=content onclick="this.textContent = 'changed'">content</div>`,
	"/form":    `<input id=name><input id=color>`,
	"/console": `<script>console.log('hello', 1); console.warn('scary'); null.throwsException</script>`,
	"/dialog":  `<button onclick="alert('hello'); title = 'closed'">Alert</button>`,
	"/emulate": `<textarea name=q 
 oninput="document.querySelector('p').hidden = false"></textarea><p id=zci-answer hidden>UA`,
	"/network": `<img src="/image.png">`,
	"/within":  `<div class=content>outer</div><section><div class=content>inner</div></section>`,
	"/tap":     `<button id=menu ontouchend="title = 'tapped'">Menu</button>`,
	"/inner":   `<p id=inner>inside</p>`,
	"/editor":  `<div contenteditable role=textbox style="white-space: pre-wrap"></div>`,
	"/custom":  `<button data-testid=submit onclick="title = 'custom'">Send</button>`,
	"/exposed": `<script>greet({Name: 'Ann'}).then(async said => document.title = said + await sum(1, 2, 3))</script>`,
	"/position": `<button title="Show My Location" onclick="navigator.geolocation.getCurrentPosition(
 p => document.title = p.coords.latitude)">Here</button>`,
	"/drag": `<div id=card draggable=true>Card</div><div id=done-column ondragover="event.preventDefault()"
 ondrop="this.textContent = 'dropped'">Done</div>`,
	"/news": `<table><tr class=athing><td class=title><span><a>One</a></span>
<tr class=athing><td class=title><span><a>Two</a></span></table>`,
	"/javascript": `<script>mw = {config: {values: {wgPageName: 'JavaScript'}}}</script>`,
	"/todo": `<input class=new-todo><ul class=todo-list></ul><a href="#/">All</a> <a href="#/active">Active</a>
<a href="#/completed">Completed</a> <button>Clear completed</button><script>
const all = JSON.parse(localStorage.all || '[]'), list = document.querySelector('ul');
function draw() {
	localStorage.all = JSON.stringify(all);
	const shown = all.filter(t => location.hash.length < 3 || t.done === (location.hash === '#/completed'));
	list.replaceChildren(...shown.map(t => {
		const row = document.createElement('li'), toggle = document.createElement('input');
		const label = document.createElement('label');
		toggle.type = 'checkbox'; toggle.className = 'toggle'; toggle.checked = t.done;
		toggle.onchange = () => { t.done = toggle.checked; draw() };
		label.textContent = t.text;
		row.append(toggle, label);
		return row;
	}));
}
document.querySelector('.new-todo').onkeydown = e => {
	if (e.key !== 'Enter') return;
	all.push({text: e.target.value, done: false});
	e.target.value = '';
	draw();
};
document.querySelector('button').onclick = () => { all.splice(0, all.length, ...all.filter(t => !t.done)); draw() };
addEventListener('hashchange', draw);
draw();
</script>`,
}

// png is a picture of one pixel.
const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89" +
	"\x00\x00\x00\rIDATx\x9cc\xf8\xff\xff?\x00\x05\xfe\x02\xfe\xa75\x81\x84\x00\x00\x00\x00IEND\xaeB`\x82"

func site(t *testing.T) string {
	t.Helper()
	var s *httptest.Server
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; path {
		case "/cookie":
			fmt.Fprintf(w, "<div id=result>%v</div>", r.Cookies())
		case "/headers":
			fmt.Fprintf(w, "<div id=result>%s</div>", r.Header.Get("X-Header"))
		case "/image.png":
			fmt.Fprint(w, png)
		case "/a.zip", "/download":
			w.Header().Set("Content-Disposition", "attachment; filename=file.zip")
			fmt.Fprint(w, "foobar")
		case "/frame":
			fmt.Fprintf(w, `<iframe src="%s/inner"></iframe>`, strings.Replace(s.URL, "127.0.0.1", "localhost", 1))
		case "/sent":
			f, _, err := r.FormFile("upload")
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			data, _ := io.ReadAll(f)
			fmt.Fprintf(w, "<div id=result>%d</div>", len(data))
		case "/tab":
			fmt.Fprint(w, pages["/proxied"])
		default:
			fmt.Fprint(w, "<!doctype html>"+pages[path])
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// want fails the test where what came is something else.
func want[T comparable](t *testing.T, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// isFile fails the test where a file does not begin with this.
func isFile(t *testing.T, path, begin string) {
	t.Helper()
	if data, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(data), begin) {
		t.Errorf("%s: %d bytes, %v", path, len(data), err)
	}
}

func TestTasksOfRod(t *testing.T) {
	at, dir := site(t), t.TempDir()
	want(t, rodClick(t, at+"/click"), "After")
	want(t, rodCookie(t, at+"/cookie"), "[cookie1=value1 cookie2=value2]")
	want(t, rodDownloadFile(t, at+"/download_file"), "file.zip6")
	rodDownloadImage(t, at, filepath.Join(dir, "image.png"))
	isFile(t, filepath.Join(dir, "image.png"), png)
	rodEmulate(t, at+"/text", dir)
	isFile(t, filepath.Join(dir, "screenshot1.png"), png[:8])
	isFile(t, filepath.Join(dir, "screenshot2.png"), png[:8])
	want(t, len(rodEval(t, at+"/click")) > 100, true)
	want(t, rodHeaders(t, at+"/headers"), "my request header")
	want(t, strings.Join(rodKeys(t, at+"/keys"), "|"),
		"some value|textarea\n\naoeu\n\ntest1\n\nblah2\n\nother box!\ntest4|three")
	want(t, strings.Join(rodLogic(t, at+"/logic"), "|"), "rod (/rod): 'rod drives'|cdp (/cdp): 'cdp speaks'")
	rodPDF(t, at+"/text", filepath.Join(dir, "sample.pdf"))
	isFile(t, filepath.Join(dir, "sample.pdf"), "%PDF")
	want(t, rodProxy(t, at, proxied(t)), "yes")
	want(t, strings.Contains(rodRemote(t, browsertest.Running(t), at+"/remote"), "logo_homepage_link"), true)
	rodScreenshot(t, at+"/shot", dir)
	isFile(t, filepath.Join(dir, "element.png"), png[:8])
	isFile(t, filepath.Join(dir, "full.jpg"), "\xff\xd8")
	want(t, rodSubmit(t, at+"/submit"), "Yes")
	var out strings.Builder
	rodSubtree(t, at+"/subtree", &out)
	for _, part := range []string{`href: "/hello"`, `#text: "content"`} {
		want(t, strings.Contains(out.String(), part), true)
	}
	want(t, rodText(t, at+"/text"), "Overview Package time")
	want(t, rodUpload(t, at+"/upload", "package main"), "original size: 12, upload size: 12")
	rodVisible(t, at+"/visible")
}

func TestTasksOfChromedp(t *testing.T) {
	at := site(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := outrider.Open(ctx, outrider.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tab := s.Tab()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	goTo := func(path string) {
		t.Helper()
		_, err := tab.Goto(ctx, at+path)
		ok(err)
	}
	title := func(l outrider.Locator, is string) {
		t.Helper()
		got, _, err := l.Attribute(ctx, "title")
		ok(err)
		want(t, got, is)
	}
	ok(chromedpNavigate(ctx, tab, at+"/title"))
	want(t, tab.Title(), "fancy website title")
	ok(chromedpClickAndWait(ctx, tab))
	want(t, tab.URL(), at+"/title")
	before, after, err := chromedpHTML(ctx, tab, at+"/html")
	ok(err)
	want(t, strings.Contains(before, ">content<") && strings.Contains(after, ">changed<"), true)
	name, color, err := chromedpForm(ctx, tab, at+"/form")
	ok(err)
	want(t, name+color, "Adagreen")
	ok(chromedpEvents(ctx, tab, at+"/console"))
	chromedpConsole(ctx, t, tab, at+"/console")
	goTo("/dialog")
	answering, end := context.WithCancel(ctx)
	chromedpDialog(answering, tab)
	ok(tab.ByRole("button", "Alert").Click(ctx))
	err = tab.BySelector("[title=closed]").Wait(ctx, "attached")
	for errors.Is(err, outrider.Code("dialog_open")) { // it is just being answered
		err = tab.BySelector("[title=closed]").Wait(ctx, "attached")
	}
	ok(err)
	end()
	picture, err := chromedpScreenshot(ctx, tab, at+"/html")
	ok(err)
	want(t, len(picture) > 100, true)
	ok(chromedpEvaluate(ctx, tab))
	_, err = chromedpEmulate(ctx, tab, at+"/emulate")
	ok(err)
	ok(tab.ResetEmulation(ctx))
	chromedpNetwork(ctx, t, tab, at+"/network")
	pdf, err := chromedpCommand(ctx, tab, at+"/html")
	ok(err)
	want(t, strings.HasPrefix(string(pdf), "%PDF"), true)
	goTo("/within")
	root, within, err := chromedpWithin(ctx, tab)
	ok(err)
	want(t, root+within, "outerinner")
	ok(chromedpTap(ctx, tab, at+"/tap"))
	title(tab.BySelector("#menu"), "tapped")
	ok(tab.ResetEmulation(ctx))
	chromedpParallel(ctx, s, []string{at + "/html", at + "/form"})
	want(t, len(s.Tabs()), 1)
	goTo("/frame")
	inner, err := chromedpFrame(ctx, tab)
	ok(err)
	want(t, inner, "inside")
	goTo("/editor")
	ok(chromedpNewLine(ctx, tab.ByRole("textbox", "")))
	lines, err := outrider.Evaluate[string](ctx, tab, "document.querySelector('[role=textbox]').innerText")
	ok(err)
	want(t, lines, "Hello\nWorld")
	ok(chromedpTimeout(ctx, tab, at+"/custom"))
	ok(chromedpCustom(ctx, tab))
	title(tab.ByTestID("submit"), "custom")
	ok(chromedpDrag(ctx, tab, at+"/drag"))
	dropped, err := tab.BySelector("#done-column").Text(ctx)
	ok(err)
	want(t, dropped, "dropped")
	other, err := s.NewTab(ctx, "")
	ok(err)
	ok(chromedpExpose(ctx, other, at+"/exposed"))
	said, err := outrider.Evaluate[string](ctx, other, "new Promise(done => (function look() {"+
		" document.title ? done(document.title) : requestAnimationFrame(look) })())")
	ok(err)
	want(t, said, "hello Ann6")
	pdf, err = chromedpPDF(ctx, tab)
	ok(err)
	want(t, strings.HasPrefix(string(pdf), "%PDF"), true)
	log, err := chromedpInOrder(ctx, tab, at+"/console")
	ok(err)
	want(t, strings.Join(log, " "), "Page.frameNavigated Runtime.consoleAPICalled Runtime.consoleAPICalled "+
		"Page.loadEventFired")
	n, err := chromedpStart(ctx, tab)
	ok(err)
	want(t, n, 2)
	gone := chromedpDetached(ctx, other)
	ok(other.Close(ctx))
	<-gone

	attached, err := chromedpRemote(ctx, browsertest.Running(t), "token")
	ok(err)
	ok(attached.Close())
	flagged, err := chromedpFlag(ctx)
	ok(err)
	ok(flagged.Close())
}

func TestTasksOfPlaywright(t *testing.T) {
	at, dir := site(t), t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	playwrightTodo(t, at+"/todo")
	for name, err := range map[string]error{
		"network":    playwrightNetwork(ctx, at+"/network"),
		"chrome":     playwrightLocalChrome(ctx, at+"/news"),
		"scraping":   playwrightScraping(ctx, at+"/news"),
		"screenshot": playwrightScreenshot(ctx, at+"/news", filepath.Join(dir, "foo.png")),
		"mobile":     playwrightMobile(ctx, at+"/position", filepath.Join(dir, "mobile.png")),
		"parallel":   playwrightParallel(ctx, []string{at + "/news", at + "/form", at + "/html", at + "/drag"}, dir),
		"javascript": playwrightJavaScript(ctx, at+"/javascript"),
		"recording":  playwrightRecording(ctx, []string{at + "/news", at + "/form"}, filepath.Join(dir, "trace.zip")),
		"download":   playwrightDownload(ctx, at+"/form"),
		"pdf":        playwrightPDF(ctx, at+"/news", filepath.Join(dir, "news.pdf")),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"foo.png", "mobile.png", "0.png", "3.png"} {
		isFile(t, filepath.Join(dir, name), png[:8])
	}
	isFile(t, filepath.Join(dir, "trace.zip"), "PK")
	isFile(t, filepath.Join(dir, "news.pdf"), "%PDF")
}
