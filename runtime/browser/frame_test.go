package browser_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
)

var framePages = map[string]string{
	"/": `<title>top</title><iframe id=a name=near src="/child"></iframe>
		<iframe id=b name=far src="{{OTHER}}/child-with-child"></iframe>`,
	"/plain":            `<title>plain</title><p>plain`,
	"/child":            `<title>child</title><p>child`,
	"/child-with-child": `<title>far</title><p>far<iframe id=c src="{{OTHER}}/child"></iframe>`,
}

// shape draws the tree: path of each frame by depth, ! for another process.
func shape(tab *browser.Tab) string {
	var b strings.Builder
	depth := map[primitives.FrameID]int{}
	for _, f := range tab.Frames() {
		d := 0
		if f.Parent != "" {
			d = depth[f.Parent] + 1
		}
		depth[f.ID] = d
		path := f.URL
		if i := strings.Index(path, "//"); i >= 0 {
			path = path[i+2:]
			path = path[strings.IndexByte(path+"/", '/'):]
		}
		remote := ""
		if f.Remote {
			remote = "!"
		}
		fmt.Fprintf(&b, "%s%s%s ", strings.Repeat(">", d), remote, path)
	}
	return strings.TrimSpace(b.String())
}

// keepElement returns the handle of an element, through the page library.
func keepElement(t *testing.T, tab *browser.Tab, frame primitives.FrameID, selector string) string {
	t.Helper()
	var out struct {
		Handle string `json:"handle"`
	}
	if err := tab.KeepElement(within(t, 20*time.Second), frame, selector, &out); err != nil {
		t.Fatalf("keeping %s: %v", selector, err)
	}
	return out.Handle
}

func TestFrameTreeAcrossProcesses(t *testing.T) {
	tab := browsertest.Tab(t)
	s := newSite(t, framePages)
	open(t, tab, s.origin+"/")
	if got, want := shape(tab), "/ >/child >!/child-with-child >>/child"; got != want {
		t.Fatalf("tree: got %s, want %s", got, want)
	}
	frames := tab.Frames()
	if frames[0].ID == "" || frames[1].Name != "near" || frames[2].Name != "far" {
		t.Errorf("frames: %+v", frames)
	}

	ctx := within(t, 10*time.Second)
	for _, f := range frames {
		var out struct {
			URL string `json:"url"`
		}
		if err := tab.Call(ctx, f.ID, "page_info", nil, &out); err != nil || out.URL != f.URL {
			t.Errorf("call in %s: got %q, %v", f.URL, out.URL, err)
		}
	}

	// Down and up again, over the process border.
	handle := keepElement(t, tab, "", "#b")
	id, err := tab.ChildFrame(ctx, "", handle)
	if err != nil || id != frames[2].ID {
		t.Fatalf("child of #b: got %s, %v, want %s", id, err, frames[2].ID)
	}
	inner, err := tab.ChildFrame(ctx, id, keepElement(t, tab, id, "#c"))
	if err != nil || inner != frames[3].ID {
		t.Fatalf("child of #c: got %s, %v, want %s", inner, err, frames[3].ID)
	}
	for _, f := range frames[1:] {
		parent, h, ok, err := tab.OwnerFrame(ctx, f.ID)
		if err != nil || !ok || parent != f.Parent {
			t.Fatalf("owner of %s: got %s %q %v %v", f.URL, parent, h, ok, err)
		}
		if back, err := tab.ChildFrame(ctx, parent, h); err != nil || back != f.ID {
			t.Errorf("child of the owner of %s: got %s, %v", f.URL, back, err)
		}
	}
	if _, h, _, _ := tab.OwnerFrame(ctx, frames[2].ID); h != handle {
		t.Errorf("the element of #b has two handles: %q and %q", handle, h)
	}
	if _, _, ok, err := tab.OwnerFrame(ctx, ""); ok || err != nil {
		t.Errorf("owner of the main frame: %v %v", ok, err)
	}

	// What is no frame has none.
	_, err = tab.ChildFrame(ctx, "", keepElement(t, tab, "", "title"))
	wantCode(t, err, fault.FrameNotFound)
	_, err = tab.ChildFrame(ctx, "", "no such handle")
	wantCode(t, err, fault.TargetNotFound)
	_, _, _, err = tab.OwnerFrame(ctx, "no such frame")
	wantCode(t, err, fault.FrameNotFound)
	wantCode(t, tab.Call(ctx, "no such frame", "page_info", nil, nil), fault.FrameNotFound)
}

func TestFrameMovesBetweenProcesses(t *testing.T) {
	tab := browsertest.Tab(t)
	s := newSite(t, framePages)
	open(t, tab, s.origin+"/")
	ctx := within(t, 20*time.Second)
	before := tab.Frames()
	near := before[1].ID
	move := func(url, want string) {
		t.Helper()
		if _, err := tab.Eval(
			ctx, "",
			fmt.Sprintf(`new Promise(r=>{const f=document.getElementById('a');f.onload=()=>r(1);f.src=%q})`, url),
		); err != nil {
			t.Fatal(err)
		}
		eventually(t, 3*time.Second, want, func() bool { return shape(tab) == want })
		if id := tab.Frames()[1].ID; id != near {
			t.Errorf("the frame's id changed from %s to %s", near, id)
		}
		var out struct{ URL string }
		if err := tab.Call(ctx, near, "page_info", nil, &out); err != nil || out.URL != url {
			t.Errorf("after moving to %s: got %s, %v", url, out.URL, err)
		}
		parent, h, _, err := tab.OwnerFrame(ctx, near)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := tab.ChildFrame(ctx, parent, h); err != nil || back != near {
			t.Errorf("element and frame do not match after the move: %s %v", back, err)
		}
	}
	for range 3 {
		move(s.other+"/child-with-child", "/ >!/child-with-child >>/child >!/child-with-child >>/child")
		move(s.origin+"/plain", "/ >/plain >!/child-with-child >>/child")
	}
	// A remote frame within a remote frame.
	move(s.other+"/child", "/ >!/child >!/child-with-child >>/child")

	if _, err := tab.Eval(ctx, "", `document.querySelectorAll('iframe').forEach(f=>f.remove())`); err != nil {
		t.Fatal(err)
	}
	eventually(t, 3*time.Second, "no child frames", func() bool { return shape(tab) == "/" })
	wantCode(t, tab.Call(ctx, near, "page_info", nil, nil), fault.FrameNotFound)
}

// Calls must go through while a frame is thrown from process to process: each
// answers, or fails because the document was replaced or detached.
func TestCallsWhileAFrameMoves(t *testing.T) {
	tab := browsertest.Tab(t)
	s := newSite(t, framePages)
	open(t, tab, s.origin+"/")
	ctx := within(t, 30*time.Second)
	near := tab.Frames()[1].ID
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 30 {
			url := []string{s.other + "/child", s.origin + "/plain", s.origin + "/child"}[i%3]
			if _, err := tab.Eval(
				ctx, "",
				fmt.Sprintf(`new Promise(r=>{const f=document.getElementById('a');f.onload=()=>r(1);f.src=%q})`, url),
			); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	answered, replaced := 0, 0
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		var out struct{ URL string }
		switch err := tab.Call(ctx, near, "page_info", nil, &out); fault.CodeOf(err) {
		case "":
			answered++
			if !strings.HasPrefix(out.URL, "http") && out.URL != "about:blank" {
				t.Fatalf("answer from %q", out.URL)
			}
		case fault.PageNavigated:
			replaced++
		default:
			t.Fatalf("unexpected: %v", err)
		}
	}
	t.Logf("%d answered, %d replaced", answered, replaced)
	var out struct{ URL string }
	if err := tab.Call(ctx, near, "page_info", nil, &out); err != nil || out.URL != s.origin+"/child" {
		t.Errorf("after the last move: got %q, %v", out.URL, err)
	}
	if answered < 10 {
		t.Errorf("only %d calls were answered", answered)
	}
}

func TestInputReachesARemoteFrame(t *testing.T) {
	tab := browsertest.Tab(t)
	s := newSite(t, map[string]string{
		"/": `<body style="margin:0"><iframe id=f style="border:0;width:300px;height:200px" src="{{OTHER}}/in">` +
			`</iframe>`,
		"/in": `<body style="margin:0"><input id=i style="width:200px;height:50px">` +
			`<script>addEventListener('click',e=>document.title=e.isTrusted+':'+e.clientX)</script>`,
		"/end": `end`,
	})
	open(t, tab, s.origin+"/")
	frame := tab.Frames()[1].ID
	ctx := within(t, 20*time.Second)
	// Input finds a frame of another process once the browser has drawn it, of
	// which no event tells.
	for hit := "0"; hit != "1"; {
		click(t, tab, 50, 20)
		var err error
		hit, err = tab.Eval(ctx, frame, `document.title===''?'0':'1'`)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := tab.InsertText(ctx, "héllo"); err != nil {
		t.Fatal(err)
	}
	if err := tab.Keys(ctx,
		primitives.KeyEvent{Type: primitives.KeyDown, Key: "a", Code: "KeyA", KeyCode: 65, Text: "a"},
		primitives.KeyEvent{Type: primitives.KeyUp, Key: "a", Code: "KeyA", KeyCode: 65}); err != nil {
		t.Fatal(err)
	}
	if got, err := tab.Eval(ctx, frame, `document.title+' '+document.getElementById('i').value`); err != nil ||
		got != "true:50 hélloa" {
		t.Errorf("got %q, %v", got, err)
	}
}

func click(t testing.TB, tab *browser.Tab, x, y float64) {
	t.Helper()
	if err := tab.Mouse(within(t, 10*time.Second), clickEvents(x, y)...); err != nil {
		t.Fatalf("clicking: %v", err)
	}
}

func clickEvents(x, y float64) []primitives.MouseEvent {
	return []primitives.MouseEvent{
		{Type: primitives.MouseMoved, X: x, Y: y},
		{
			Type:       primitives.MousePressed,
			X:          x,
			Y:          y,
			Button:     "left",
			Buttons:    1,
			ClickCount: 1,
		},
		{Type: primitives.MouseReleased, X: x, Y: y, Button: "left", ClickCount: 1},
	}
}
