package browser_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg"
	_ "image/png"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/runtime/browser/launch"
)

// Without options a page meets an ordinary browser.
func TestNothingIsEmulated(t *testing.T) {
	b := browsertest.Browser(t)
	tab := browsertest.Tab(t)
	got, err := tab.Eval(
		within(t, 10*time.Second), "",
		`JSON.stringify({touch:navigator.maxTouchPoints,ratio:devicePixelRatio,focus:document.hasFocus(),
		wide:innerWidth,high:innerHeight>400&&innerHeight<=800,outer:outerWidth,
		webdriver:navigator.webdriver,mobile:navigator.userAgentData?.mobile})`,
	)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(
		`{"touch":0,"ratio":1,"focus":true,"wide":%d,"high":true,"outer":%d,"webdriver":true}`,
		launch.WindowWidth, launch.WindowWidth,
	)
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !strings.Contains(b.Version(), "/") || b.PID() == 0 {
		t.Errorf("version %q, pid %d", b.Version(), b.PID())
	}
}

func TestWhatIsAskedForIsEmulated(t *testing.T) {
	b := browsertest.Launch(t, func(o *browser.Options) {
		o.Viewport.Width, o.Viewport.Height = 700, 500
		o.Locale, o.Timezone = "de-CH", "Asia/Tokyo"
	})
	s := newSite(t, map[string]string{"/": `<iframe src="{{OTHER}}/in"></iframe>`, "/in": `in`})
	tab := newTab(t, b, s.origin+"/")
	const expression = `JSON.stringify([navigator.language,Intl.NumberFormat().resolvedOptions().locale,` +
		`Intl.DateTimeFormat().resolvedOptions().timeZone,new Date(0).getHours()])`
	want := `["de-CH","de-CH","Asia/Tokyo",9]`
	for _, f := range tab.Frames() {
		if got, err := tab.Eval(within(t, 10*time.Second), f.ID, expression); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", f.URL, got, err, want)
		}
	}
	if got, _ := tab.Eval(within(t, 10*time.Second), "", `innerWidth+"x"+innerHeight`); got != "700x500" {
		t.Errorf("viewport: got %s", got)
	}
}

// Tabs in the background get input, animation frames and captures like the one
// in front, without coming to the front.
func TestTabsInTheBackground(t *testing.T) {
	b := browsertest.Launch(t, nil)
	s := newSite(t, map[string]string{"/": `<body style="margin:0;background:rgb(0,128,0)">` +
		`<button style="width:100px;height:100px" onclick="n=(window.n||0)+1">x</button><input autofocus>`})
	count, rounds := 6, 10
	if browsertest.Long() {
		count, rounds = 16, 20
	}
	tabs := make([]*browser.Tab, count)
	for i := range tabs {
		var err error
		tabs[i], err = b.NewTab(within(t, time.Minute), s.origin+"/", browser.TabOptions{Background: i > 0})
		if err != nil {
			t.Fatal(err)
		}
	}
	start := time.Now()
	var wg sync.WaitGroup
	for _, tab := range tabs {
		wg.Go(func() {
			ctx := within(t, 2*time.Minute)
			for range rounds {
				if err := tab.Call(ctx, "", "page_info", nil, nil); err != nil {
					t.Error(err)
					return
				}
				if err := tab.Mouse(ctx, clickEvents(50, 50)...); err != nil {
					t.Error(err)
					return
				}
			}
			if got, err := tab.Eval(ctx, "", `n+' '+document.hasFocus()`); err != nil ||
				got != fmt.Sprintf("%d true", rounds) {
				t.Errorf("got %s, %v", got, err)
			}
			if got, err := tab.Eval(
				ctx, "",
				`new Promise(r=>{let k=0;const f=()=>++k<5?requestAnimationFrame(f):r(k);f();setTimeout(()=>r('only `+
					`'+k+' frames'),30000)})`,
			); err != nil || got != "5" {
				t.Errorf("frames: got %s, %v", got, err)
			}
		})
	}
	wg.Wait()
	t.Logf("%.0f call+click pairs per second in %d tabs", float64(count*rounds)/time.Since(start).Seconds(), count)
	for i, tab := range tabs {
		picture, err := tab.Capture(within(t, 30*time.Second), primitives.CaptureOptions{Format: "png"})
		if err != nil {
			t.Fatalf("tab %d: %v", i, err)
		}
		if c := pixel(t, decoded(t, picture), 300, 300); c != (color.RGBA{0, 128, 0, 255}) {
			t.Errorf("tab %d: got %v", i, c)
		}
	}
	// Keys go where the focus of each tab is.
	for i, tab := range tabs {
		ctx := within(t, 20*time.Second)
		if _, err := tab.Eval(ctx, "", "document.querySelector('input').focus()"); err != nil {
			t.Fatal(err)
		}
		if err := tab.InsertText(ctx, fmt.Sprint("text ", i)); err != nil {
			t.Fatal(err)
		}
		if got, _ := tab.Eval(ctx, "", "document.querySelector('input').value"); got != fmt.Sprint("text ", i) {
			t.Errorf("tab %d got %q", i, got)
		}
	}
}

func pixel(t *testing.T, picture []byte, x, y int) color.RGBA {
	t.Helper()
	m, _, err := image.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	return color.RGBAModel.Convert(m.At(x, y)).(color.RGBA)
}

func TestCapture(t *testing.T) {
	tab := browsertest.Tab(t)
	s := newSite(t, map[string]string{"/": `<body style="margin:0;height:5000px;background:linear-gradient(red 0 ` +
		`1000px,lime 1000px 2000px,blue 2000px)">`})
	open(t, tab, s.origin+"/")
	ctx := within(t, 30*time.Second)
	for _, c := range []struct {
		name   string
		scroll int
		opts   primitives.CaptureOptions
		format string
		size   string // "" is the viewport's
		want   color.RGBA
	}{
		{name: "png", opts: primitives.CaptureOptions{Format: "png"}, format: "png", want: color.RGBA{255, 0, 0, 255}},
		{
			name:   "fast",
			opts:   primitives.CaptureOptions{Format: "png", Fast: true},
			format: "png",
			want:   color.RGBA{255, 0, 0, 255},
		},
		{
			name:   "jpeg",
			opts:   primitives.CaptureOptions{Format: "jpeg", Quality: 90},
			format: "jpeg",
			want:   color.RGBA{254, 0, 0, 255},
		},
		{
			name:   "scrolled",
			scroll: 1100,
			opts:   primitives.CaptureOptions{Format: "png"},
			format: "png",
			want:   color.RGBA{0, 255, 0, 255},
		},
		{name: "clip", opts: primitives.CaptureOptions{
			Format: "png",
			Clip:   &primitives.Rect{X: 10, Y: 20, Width: 30, Height: 40},
		}, format: "png", size: "30x40", want: color.RGBA{255, 0, 0, 255}},
		{
			name:   "clip of the viewport, scrolled",
			scroll: 2100,
			opts: primitives.CaptureOptions{
				Format: "png",
				Clip:   &primitives.Rect{X: 10, Y: 20, Width: 30, Height: 40},
			},
			format: "png",
			size:   "30x40",
			want:   color.RGBA{0, 0, 255, 255},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			size, err := tab.Eval(ctx, "", fmt.Sprintf(`scrollTo(0,%d);innerWidth+"x"+innerHeight`, c.scroll))
			if err != nil {
				t.Fatal(err)
			}
			if c.size != "" {
				size = c.size
			}
			picture, err := tab.Capture(ctx, c.opts)
			if err != nil {
				t.Fatal(err)
			}
			cfg, format, err := image.DecodeConfig(picture.Reader())
			if err != nil || format != c.format || fmt.Sprintf("%dx%d", cfg.Width, cfg.Height) != size {
				t.Fatalf("got %s %dx%d, %v, want %s %s", format, cfg.Width, cfg.Height, err, c.format, size)
			}
			if got := pixel(t, decoded(t, picture), 5, 5); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
			if got, _ := tab.Eval(ctx, "", "scrollY"); got != fmt.Sprint(c.scroll) {
				t.Errorf("the page is scrolled to %s", got)
			}
		})
	}
}

func decoded(t *testing.T, picture primitives.Image) []byte {
	t.Helper()
	b, err := picture.Bytes()
	if err != nil || len(b) != picture.Size() {
		t.Fatalf("%d bytes, said %d, %v", len(b), picture.Size(), err)
	}
	return b
}

// An attached browser keeps what is not ours.
func TestAttach(t *testing.T) {
	browsertest.Require(t)
	found, err := launch.Find("", "")
	if err != nil {
		t.Fatal(err)
	}
	address := browsertest.Address(t)
	_, port, _ := net.SplitHostPort(address)
	profile, err := os.MkdirTemp("", "attach-")
	if err != nil {
		t.Fatal(err)
	}
	host := exec.Command(found.Path, "--headless=new", "--no-sandbox", "--no-first-run", "--remote-debugging-port="+
		port,
		"--user-data-dir="+profile, "data:text/html,<title>theirs</title>")
	host.WaitDelay = time.Second
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		host.Process.Kill()
		host.Wait()
		// Its child processes end a moment later and write until then.
		eventually(t, 10*time.Second, "an end of the other browser", func() bool {
			return os.RemoveAll(profile) == nil
		})
	})
	eventually(t, 30*time.Second, "the browser's port", func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	s := newSite(t, map[string]string{"/": `<title>ours</title><body style="margin:0"><button style="width:100px;` +
		`height:100px" onclick="window.open('/popup')">`, "/popup": `<title>popup</title>`})

	attach := func(adopt bool) *browser.Browser {
		b, err := browser.Launch(within(t, 30*time.Second), browser.Options{
			Attach:    "http://" + address,
			AdoptTabs: adopt,
		})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	b := attach(false)
	if !b.Attached() || b.PID() != 0 || len(b.Tabs()) != 0 {
		t.Errorf("attached %v, pid %d, tabs %d", b.Attached(), b.PID(), len(b.Tabs()))
	}
	tab := newTab(t, b, s.origin+"/")
	var out struct{ Title string }
	if err := tab.Call(within(t, 10*time.Second), "", "page_info", nil, &out); err != nil || out.Title != "ours" {
		t.Errorf("got %q, %v", out.Title, err)
	}
	click(t, tab, 50, 50)
	defer func() {
		for _, tab := range b.Tabs() {
			t.Logf("tab: %+v", tab.Tab())
		}
	}()
	eventually(t, 10*time.Second, "the popup", func() bool { return len(b.Tabs()) == 2 })
	if err := b.Close(within(t, 10*time.Second)); err != nil {
		t.Fatal(err)
	}

	b = attach(true)
	titles := ""
	for _, tab := range b.Tabs() {
		titles += tab.Tab().Title + " "
	}
	if !strings.Contains(titles, "theirs") || strings.Contains(titles, "ours") {
		t.Errorf("after closing: %s", titles)
	}
	if err := b.Tabs()[0].Call(within(t, 10*time.Second), "", "page_info", nil, &out); err != nil {
		t.Error(err)
	}
	lost := make(chan struct{})
	go func() { <-b.Done(); close(lost) }()
	host.Process.Kill()
	select {
	case <-lost:
	case <-time.After(patience):
		t.Error("the loss was not noticed")
	}
	if err := b.Close(within(t, 10*time.Second)); err != nil {
		t.Error(err)
	}
}
