package primitives_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/fault"
)

// device is a Page that records the input it gets, in order.
type device struct {
	scripted
	log      []string
	batches  []int // events per Keys
	events   []primitives.KeyEvent
	mouseErr error
	keysErr  func(batch int) error
	navigate func(ctx context.Context, o primitives.NavigateOptions) (primitives.Navigation, error)
	capture  func(ctx context.Context, o primitives.CaptureOptions) ([]byte, error)
	dialog   *primitives.Dialog
	answer   func(ctx context.Context, accept bool, text string) error
	tab      primitives.TabInfo
	peer     *device
}

// hit is the answer of pointer_target for a page with one element everywhere.
func newDevice() *device {
	d := &device{tab: primitives.TabInfo{ID: 7, RuntimeID: "rt", RuntimeKey: "tab:7", Active: true}}
	d.scripted.answer = func(c scriptedCall) (any, error) {
		d.log = append(d.log, "call "+c.fn)
		switch c.fn {
		case "pointer_target":
			return map[string]any{
				"target":   map[string]any{"tag_name": "button", "bounding_box": box},
				"viewport": map[string]any{"width": 800, "height": 600},
			}, nil
		case "viewport_info":
			return map[string]any{
				"url":      "http://a.test/",
				"viewport": map[string]any{"width": 80, "height": 60, "device_pixel_ratio": 2},
			}, nil
		}
		return map[string]any{"inserted": true, "inserted_length": 1}, nil
	}
	return d
}

var box = map[string]any{"x": 0, "y": 0, "width": 1, "height": 1}

func (d *device) Mouse(ctx context.Context, events ...primitives.MouseEvent) error {
	for _, e := range events {
		d.log = append(d.log, strings.TrimRight(string(e.Type)+" "+e.Button+" "+strconv.Itoa(e.Buttons)+
			strconv.Itoa(e.ClickCount)+strconv.Itoa(int(e.Modifiers)), " "))
	}
	return d.mouseErr
}

func (d *device) Keys(ctx context.Context, events ...primitives.KeyEvent) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d.batches = append(d.batches, len(events))
	d.events = append(d.events, events...)
	for _, e := range events {
		d.log = append(d.log, string(e.Type)+" "+e.Code)
	}
	if d.keysErr != nil {
		return d.keysErr(len(d.batches))
	}
	return nil
}

func (d *device) Dialog() (primitives.Dialog, bool) {
	if d.dialog == nil {
		return primitives.Dialog{}, false
	}
	return *d.dialog, true
}

func (d *device) AnswerDialog(ctx context.Context, accept bool, text string) (primitives.Dialog, error) {
	if d.dialog == nil {
		return primitives.Dialog{}, fault.New(fault.NoDialog, "no dialog is open")
	}
	if d.answer != nil {
		if err := d.answer(ctx, accept, text); err != nil {
			return primitives.Dialog{}, err
		}
	}
	d.log = append(d.log, "answer "+strconv.FormatBool(accept)+" "+text)
	return *d.dialog, nil
}

func (d *device) Navigate(ctx context.Context, o primitives.NavigateOptions) (primitives.Navigation, error) {
	return d.navigate(ctx, o)
}

func (d *device) Capture(ctx context.Context, o primitives.CaptureOptions) (primitives.Image, error) {
	b, err := d.capture(ctx, o)
	return base64.StdEncoding.AppendEncode(nil, b), err
}

func (d *device) Tab() primitives.TabInfo        { return d.tab }
func (d *device) Frames() []primitives.FrameInfo { return nil }

func (d *device) Peer(id int) (primitives.Page, error) {
	if d.peer == nil || d.peer.tab.ID != id {
		return nil, fault.New(fault.TabClosed, "this runtime has no such tab")
	}
	return d.peer, nil
}

func invoke(t *testing.T, p primitives.Page, name, args string) primitives.Result {
	t.Helper()
	return catalog.Standard().Invoke(t.Context(), p, name, json.RawMessage(args))
}

func TestInputIsSentBackToBackAfterOneQuestion(t *testing.T) {
	for _, c := range []struct {
		primitive, args string
		want            []string
	}{
		{"pointer.move", `{"x":1,"y":2}`, []string{"call pointer_target", "mouseMoved  000"}},
		{
			"pointer.click", `{"x":1,"y":2}`,
			[]string{"call pointer_target", "mouseMoved  000", "mousePressed left 110", "mouseReleased left 010"},
		},
		{
			"pointer.click", `{"x":1,"y":2,"button":"right"}`,
			[]string{"call pointer_target", "mouseMoved  000", "mousePressed right 210", "mouseReleased right 010"},
		},
		{
			"pointer.click", `{"x":1,"y":2,"button":"middle"}`,
			[]string{"call pointer_target", "mouseMoved  000", "mousePressed middle 410", "mouseReleased middle 010"},
		},
		{"pointer.double_click", `{"x":1,"y":2}`, []string{
			"call pointer_target", "mouseMoved  000", "mousePressed left 110",
			"mouseReleased left 010", "mousePressed left 120", "mouseReleased left 020",
		}},
		{"pointer.click", `{"x":1,"y":2,"modifiers":["shift","ctrl"]}`, []string{
			"call pointer_target", "rawKeyDown ControlLeft", "rawKeyDown ShiftLeft",
			"mouseMoved  0010", "mousePressed left 1110",
			"mouseReleased left 0110", "keyUp ShiftLeft", "keyUp ControlLeft",
		}},
		{"keyboard.press", `{"key":"Control+a"}`, []string{
			"call focused_target", "rawKeyDown ControlLeft", "rawKeyDown KeyA", "keyUp KeyA", "keyUp ControlLeft",
		}},
		{"keyboard.press", `{"key":"a","repeat":0}`, nil},
		{"text.type", `{"text":"aB\n","trusted":true}`, []string{
			"call focused_target", "keyDown KeyA", "keyUp KeyA",
			"keyDown KeyB", "keyUp KeyB", "keyDown Enter", "keyUp Enter",
		}},
		{"text.insert", `{"text":"a"}`, []string{"call text_insert"}},
		{"viewport.scroll", `{"delta_y":1,"scope":{"selector":"a"}}`, []string{"call viewport_scroll"}},
	} {
		d := newDevice()
		if c.primitive == "viewport.scroll" {
			d.scripted.answer = func(sc scriptedCall) (any, error) {
				d.log = append(d.log, "call "+sc.fn)
				at := map[string]any{"scroll_x": 0, "scroll_y": 0}
				return map[string]any{"moved": false, "target": "viewport", "before": at, "after": at}, nil
			}
		}
		res := invoke(t, d, c.primitive, c.args)
		if res.Err != nil {
			t.Errorf("%s %s: %v", c.primitive, c.args, res.Err)
		}
		if !slices.Equal(d.log, c.want) {
			t.Errorf("%s %s:\n got %q\nwant %q", c.primitive, c.args, d.log, c.want)
		}
	}
}

func TestHeldKeysAreReleasedWhateverHappens(t *testing.T) {
	broken := errors.New("pipe")
	t.Run("the click fails", func(t *testing.T) {
		d := newDevice()
		d.mouseErr = fault.New(fault.TabClosed, "the tab is gone")
		res := invoke(t, d, "pointer.click", `{"x":1,"y":1,"modifiers":["alt"]}`)
		if fault.CodeOf(asError(res.Err)) != fault.TabClosed || d.log[len(d.log)-1] != "keyUp AltLeft" {
			t.Errorf("got %v after %q", res.Err, d.log)
		}
	})
	t.Run("pressing the modifier fails", func(t *testing.T) {
		d := newDevice()
		d.keysErr = func(n int) error {
			if n == 1 {
				return broken
			}
			return nil
		}
		res := invoke(t, d, "pointer.click", `{"x":1,"y":1,"modifiers":["alt"]}`)
		if res.Err == nil || slices.Contains(d.log, "mousePressed left 111") || d.log[len(d.log)-1] != "keyUp AltLeft" {
			t.Errorf("got %v after %q", res.Err, d.log)
		}
	})
	t.Run("the chord is cancelled", func(t *testing.T) {
		d := newDevice()
		ctx, cancel := context.WithCancel(t.Context())
		d.keysErr = func(n int) error {
			if n == 1 {
				cancel()
				return ctx.Err()
			}
			return nil
		}
		res := catalog.Standard().Invoke(ctx, d, "keyboard.press", json.RawMessage(`{"key":"Control+Shift+x"}`))
		if fault.CodeOf(asError(res.Err)) != fault.Cancelled {
			t.Errorf("got %v, want cancelled", res.Err)
		}
		got := d.log[len(d.log)-3:]
		if !slices.Equal(got, []string{"keyUp KeyX", "keyUp ShiftLeft", "keyUp ControlLeft"}) {
			t.Errorf("not released: %q", d.log)
		}
	})
}

func TestRefusedInputKeepsTheNearerCode(t *testing.T) {
	for _, c := range []struct {
		name, primitive, args string
		err                   error
		want                  fault.Code
	}{
		{"protocol error of a key", "keyboard.press", `{"key":"a"}`, errors.New("bad"), fault.TrustedKeyFailed},
		{
			"protocol error while typing", "text.type", `{"text":"a","trusted":true}`,
			errors.New("bad"), fault.TrustedTextFailed,
		},
		{
			"protocol error while selecting", "text.type",
			`{"text":"a","trusted":true,"select_back_chars":2}`, errors.New("bad"), fault.TrustedTextFailed,
		},
		{"dialog", "keyboard.press", `{"key":"a"}`, fault.New(fault.DialogOpen, "open"), fault.DialogOpen},
		{"time", "text.type", `{"text":"a","trusted":true}`, context.DeadlineExceeded, fault.Timeout},
	} {
		d := newDevice()
		d.keysErr = func(int) error { return c.err }
		if res := invoke(t, d, c.primitive, c.args); fault.CodeOf(asError(res.Err)) != c.want {
			t.Errorf("%s: got %v, want %s", c.name, res.Err, c.want)
		}
	}
}

func TestRepeatsAreSpacedAfterTheyWereHandled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevice()
		d.keysErr = func(int) error { time.Sleep(40 * time.Millisecond); return nil } // a busy page
		start := time.Now()
		res := invoke(t, d, "keyboard.press", `{"key":"Shift+ArrowLeft","repeat":3}`)
		if res.Err != nil || time.Since(start) != (3*40+2*25)*time.Millisecond {
			t.Errorf("got %v after %s", res.Err, time.Since(start))
		}
		want := []string{
			"call focused_target", "rawKeyDown ShiftLeft", "rawKeyDown ArrowLeft",
			"keyUp ArrowLeft", "rawKeyDown ArrowLeft", "keyUp ArrowLeft",
			"rawKeyDown ArrowLeft", "keyUp ArrowLeft", "keyUp ShiftLeft",
		}
		if !slices.Equal(d.log, want) || !slices.Equal(d.batches, []int{3, 2, 3}) {
			t.Errorf("sent %q in %v", d.log, d.batches)
		}
	})
}

func TestADialogEndsTheRepeats(t *testing.T) {
	d := newDevice()
	d.keysErr = func(n int) error {
		if n == 2 {
			d.dialog = &primitives.Dialog{Type: "alert"}
		}
		return nil
	}
	res := invoke(t, d, "keyboard.press", `{"key":"Control+x","repeat":5}`)
	if want := `{"pressed":true,"key":"x","modifiers":["control"],"repeat":2,"fidelity":"trusted","target":null,` +
		`"dialog":{"type":"alert"}}`; string(res.Payload) != want {
		t.Errorf("got %s %v, want %s", res.Payload, res.Err, want)
	}
	if d.log[len(d.log)-1] != "keyUp ControlLeft" {
		t.Errorf("the modifier stays down: %q", d.log)
	}
}

func TestLongTextGoesInBatches(t *testing.T) {
	const secret = "correct horse battery staple "
	text := strings.Repeat(secret, 25) // 725 characters
	d := newDevice()
	if res := invoke(t, d, "text.type", `{"trusted":true,"text":`+strconv.Quote(text)+`}`); res.Err != nil {
		t.Fatal(res.Err)
	}
	if !slices.Equal(d.batches, []int{512, 512, 426}) {
		t.Errorf("batches %v", d.batches)
	}
	d = newDevice()
	d.keysErr = func(n int) error {
		if n == 2 {
			return errors.New("gone")
		}
		return nil
	}
	res := invoke(t, d, "text.type", `{"trusted":true,"text":`+strconv.Quote(text)+`}`)
	if res.Err == nil || res.Err.Evidence["characters_sent_before"] != 256 {
		t.Fatalf("got %v with %v", res.Err, res.Err.Evidence)
	}
	if b := res.Envelope(); bytes.Contains(b, []byte("horse")) {
		t.Errorf("typed text in the error: %s", b)
	}
}

func TestNavigate(t *testing.T) {
	var got primitives.NavigateOptions
	d, peer := newDevice(), newDevice()
	d.peer, peer.tab.ID = peer, 9
	nav := func(_ context.Context, o primitives.NavigateOptions) (primitives.Navigation, error) {
		got = o
		return primitives.Navigation{
			URL:      "https://e.test:8443/a?b#c",
			Title:    "E",
			Replaced: true,
			Loaded:   true,
			Status:   200,
		}, nil
	}
	d.navigate, peer.navigate = nav, nav
	for _, c := range []struct {
		name, args string
		want       fault.Code
		opts       primitives.NavigateOptions
	}{
		{
			"address", `{"url":" https://e.test/\n"}`, "",
			primitives.NavigateOptions{
				URL:           "https://e.test/",
				LoadTimeout:   15 * time.Second,
				AnswerTimeout: 15 * time.Second,
			},
		},
		{
			"reload wins", `{"url":"file:///x","reload":true}`, "",
			primitives.NavigateOptions{Reload: true, LoadTimeout: 15 * time.Second, AnswerTimeout: 15 * time.Second},
		},
		{
			"itself by id", `{"reload":true,"tab_id":7}`, "",
			primitives.NavigateOptions{Reload: true, LoadTimeout: 15 * time.Second, AnswerTimeout: 15 * time.Second},
		},
		{
			"peer", `{"reload":true,"tab_id":9}`, "",
			primitives.NavigateOptions{Reload: true, LoadTimeout: 15 * time.Second, AnswerTimeout: 15 * time.Second},
		},
		{"stranger", `{"reload":true,"tab_id":8}`, fault.TabClosed, primitives.NavigateOptions{}},
	} {
		got = primitives.NavigateOptions{}
		res := invoke(t, d, "browser.navigate", c.args)
		if code := fault.CodeOf(asError(res.Err)); code != c.want || got != c.opts {
			t.Errorf("%s: got %q and %+v, want %q and %+v", c.name, code, got, c.want, c.opts)
		}
	}
	res := invoke(t, d, "browser.navigate", `{"reload":true,"tab_id":9}`)
	want := `{"ok":true,"navigated":true,"connected":true,"reloaded":true,"runtime_identity_attested":true,` +
		`"runtime_replaced":true,"loaded":true,"same_document":false,"status":200,` +
		`"tab":{"runtime_id":"rt","tab_id":9,"url":"https://e.test:8443/a?b#c","title":"E","host":"e.test:8443",` +
		`"active":true,"window_id":0,"authorization_id":"","bridge_url":null,"_runtime_key":"tab:7"}}`
	if string(res.Envelope()) != want {
		t.Errorf("got  %s\nwant %s", res.Envelope(), want)
	}
	t.Run("keeps time for the answer", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		catalog.Standard().Invoke(ctx, d, "browser.navigate", json.RawMessage(`{"reload":true}`))
		if got.LoadTimeout > 2750*time.Millisecond || got.LoadTimeout < time.Second {
			t.Errorf("load timeout %s of 3s", got.LoadTimeout)
		}
	})
}

func TestDismissDialog(t *testing.T) {
	for _, c := range []struct{ name, args, want string }{
		{"accept is the default, with the proposed text", `{}`, "answer true Ada"},
		{"own text", `{"prompt_text":"Grace"}`, "answer true Grace"},
		{"empty text is a text", `{"prompt_text":""}`, "answer true "},
		{"refuse", `{"accept":false}`, "answer false Ada"},
	} {
		d := newDevice()
		d.dialog = &primitives.Dialog{Type: "prompt", Message: "name?", DefaultPrompt: "Ada"}
		res := invoke(t, d, "browser.dismiss_dialog", c.args)
		if res.Err != nil || len(d.log) != 1 || d.log[0] != c.want {
			t.Errorf("%s: %v, %q, want %q", c.name, res.Err, d.log, c.want)
		}
	}
	d := newDevice()
	if res := invoke(t, d, "browser.dismiss_dialog", `{}`); fault.CodeOf(asError(res.Err)) != fault.NoDialog {
		t.Errorf("without a dialog: %v", res.Err)
	}
	if res := invoke(
		t, d, "browser.dismiss_dialog", `{"tab_id":3}`,
	); fault.CodeOf(asError(res.Err)) != fault.TabClosed {
		t.Errorf("another tab: %v", res.Err)
	}
	synctest.Test(t, func(t *testing.T) {
		d := newDevice()
		d.dialog = &primitives.Dialog{Type: "alert", Message: strings.Repeat("é", 2000)}
		d.answer = func(ctx context.Context, _ bool, _ string) error { <-ctx.Done(); return ctx.Err() }
		start := time.Now()
		res := invoke(t, d, "browser.dismiss_dialog", `{}`)
		if fault.CodeOf(asError(res.Err)) != fault.Timeout || time.Since(start) != 8*time.Second {
			t.Errorf("got %v after %s, want timeout after 8s", res.Err, time.Since(start))
		}
		d.answer = nil
		res = invoke(t, d, "browser.dismiss_dialog", `{}`)
		if !json.Valid(res.Payload) || len(res.Payload) > 1300 ||
			!bytes.Contains(res.Payload, []byte(`"message_truncated":true`)) {
			t.Errorf("%d bytes: %.80s", len(res.Payload), res.Payload)
		}
	})
}

// picture is what the browser would capture of a viewport of 80×60 at two
// device pixels per CSS pixel.
func picture(t *testing.T, o primitives.CaptureOptions) []byte {
	m := image.NewRGBA(image.Rect(0, 0, 160, 120))
	for y := range 120 {
		for x := range 160 {
			m.Set(x, y, color.RGBA{uint8(x * 37), uint8(y * 91), uint8(x * y), 255})
		}
	}
	var b bytes.Buffer
	var err error
	if o.Format == "jpeg" {
		err = jpeg.Encode(&b, m, nil)
	} else {
		err = png.Encode(&b, m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestScreenshotAsksForTheRightCapture(t *testing.T) {
	for _, c := range []struct {
		name, args string
		want       primitives.CaptureOptions
		mime       string
		w, h       float64
	}{
		{"default", `{}`, primitives.CaptureOptions{Format: "png"}, "image/png", 160, 120},
		{
			"jpeg", `{"format":"jpeg","quality":40}`,
			primitives.CaptureOptions{Format: "jpeg", Quality: 40}, "image/jpeg", 160, 120,
		},
		{
			"a jpeg that will be resized is captured without loss", `{"format":"jpeg","quality":40,"max_width":40}`,
			primitives.CaptureOptions{Format: "png", Fast: true}, "image/jpeg", 40, 30,
		},
		{"css pixels", `{"scale":"css"}`, primitives.CaptureOptions{Format: "png"}, "image/png", 80, 60},
		{
			"css pixels and a narrower limit", `{"scale":"css","max_height":30}`,
			primitives.CaptureOptions{Format: "png"}, "image/png", 40, 30,
		},
		{
			"a limit that holds", `{"format":"jpeg","max_width":160}`,
			primitives.CaptureOptions{Format: "jpeg"}, "image/jpeg", 160, 120,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got primitives.CaptureOptions
			d := newDevice()
			d.capture = func(_ context.Context, o primitives.CaptureOptions) ([]byte, error) {
				got = o
				return picture(t, o), nil
			}
			res := invoke(t, d, "browser.screenshot", c.args)
			if res.Err != nil {
				t.Fatal(res.Err)
			}
			var out struct {
				Mime    string `json:"mime_type"`
				URL     string `json:"data_url"`
				Encoded struct{ Width, Height float64 }
			}
			if err := json.Unmarshal(res.Payload, &out); err != nil {
				t.Fatal(err)
			}
			if got != c.want || out.Mime != c.mime || out.Encoded.Width != c.w || out.Encoded.Height != c.h ||
				!strings.HasPrefix(out.URL, "data:"+c.mime+";base64,") {
				t.Errorf(
					"captured %+v, want %+v; got %s %vx%v, want %s %vx%v",
					got, c.want, out.Mime, out.Encoded.Width, out.Encoded.Height, c.mime, c.w, c.h,
				)
			}
		})
	}
}

func TestScreenshotFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := func(ctx context.Context, _ primitives.CaptureOptions) ([]byte, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		for _, c := range []struct {
			name, args string
			capture    func(context.Context, primitives.CaptureOptions) ([]byte, error)
			want       fault.Code
			after      time.Duration
		}{
			{"own time", `{"capture_timeout_ms":300}`, hang, fault.ScreenshotCaptureFailed, 300 * time.Millisecond},
			{"default time", `{"delay_ms":50}`, hang, fault.ScreenshotCaptureFailed, 10050 * time.Millisecond},
			{
				"the caller's time", `{"capture_timeout_ms":60000,"delay_ms":30000}`,
				hang, fault.Timeout, 20 * time.Second,
			},
			{"no image", `{}`, func(context.Context, primitives.CaptureOptions) ([]byte, error) {
				return nil, nil
			}, fault.ScreenshotCaptureFailed, 0},
			{"not an image", `{"max_width":1}`, func(context.Context, primitives.CaptureOptions) ([]byte, error) {
				return []byte("GIF"), nil
			}, fault.ScreenshotCaptureFailed, 0},
			{"browser error", `{}`, func(context.Context, primitives.CaptureOptions) ([]byte, error) {
				return nil, errors.New("x")
			}, fault.ScreenshotCaptureFailed, 0},
			{"dialog", `{}`, func(context.Context, primitives.CaptureOptions) ([]byte, error) {
				return nil, fault.New(fault.DialogOpen, "x")
			}, fault.DialogOpen, 0},
		} {
			d := newDevice()
			d.capture = c.capture
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			start := time.Now()
			res := catalog.Standard().Invoke(ctx, d, "browser.screenshot", json.RawMessage(c.args))
			cancel()
			if code := fault.CodeOf(asError(res.Err)); code != c.want || time.Since(start) != c.after {
				t.Errorf("%s: got %s after %s, want %s after %s", c.name, code, time.Since(start), c.want, c.after)
			}
		}
	})
}

func TestAimFollowsFramesOfOtherOrigins(t *testing.T) {
	d := newDevice()
	inner := map[string]any{"x": 10, "y": 20, "sx": 1, "sy": 1}
	d.scripted.answer = func(c scriptedCall) (any, error) {
		target := map[string]any{"tag_name": "iframe", "bounding_box": box}
		if c.frame == "" {
			return map[string]any{
				"descend":  "h1",
				"view":     inner,
				"target":   target,
				"viewport": map[string]any{"width": 1, "height": 1},
			}, nil
		}
		if c.args["inside"] != true || c.args["view"].(map[string]any)["x"] != 10.0 {
			t.Errorf("the frame was asked with %v", c.args)
		}
		target["tag_name"] = "b"
		return map[string]any{"target": target}, nil
	}
	res := invoke(t, d, "pointer.click", `{"x":30,"y":40}`)
	if res.Err != nil || !bytes.Contains(res.Payload, []byte(`"tag_name":"b"`)) || d.calls[1].frame != "/h1" {
		t.Errorf("got %s %v, calls %v", res.Payload, res.Err, d.calls)
	}
	t.Run("one that does not answer is the target itself", func(t *testing.T) {
		outer := d.scripted.answer
		d.scripted.answer = func(c scriptedCall) (any, error) {
			if c.frame != "" {
				return nil, fault.New(fault.PageNavigated, "the document was replaced")
			}
			return outer(c)
		}
		res := invoke(t, d, "pointer.click", `{"x":30,"y":40}`)
		if res.Err != nil || !bytes.Contains(res.Payload, []byte(`"tag_name":"iframe"`)) {
			t.Errorf("got %s %v", res.Payload, res.Err)
		}
	})
}

func TestInsertTarget(t *testing.T) {
	for _, c := range []struct{ name, args, want string }{
		{"focus", `{"text":"x"}`, `null false`},
		{"selector", `{"text":"x","target":"#a","mode":"replace"}`, `{"selector":"#a"} true`},
		{"locator", `{"text":"x","target":{"text_contains":"a"},"mode":"insert"}`, `{"text_contains":"a"} false`},
		{"nested", `{"text":"x","target":{"locator":{"text":"a"}}}`, `{"text":"a"} false`},
		{
			"an own selector wins", `{"text":"x","target":{"selector":"#b","locator":{"selector":"#c"}}}`,
			`{"locator":{"selector":"#c"},"selector":"#b"} false`,
		},
	} {
		d := newDevice()
		res := invoke(t, d, "text.insert", c.args)
		if res.Err != nil {
			t.Errorf("%s: %v", c.name, res.Err)
			continue
		}
		loc, _ := json.Marshal(d.calls[0].args["locator"])
		if got := string(loc) + " " + strconv.FormatBool(d.calls[0].args["replace"].(bool)); got != c.want {
			t.Errorf("%s: asked for %s, want %s", c.name, got, c.want)
		}
	}
	d := newDevice()
	d.scripted.answer = func(scriptedCall) (any, error) {
		return nil, fault.New(fault.TargetNotEditable, "the element does not take text").With("tag_name", "p")
	}
	res := invoke(t, d, "text.insert", `{"text":"hunter2","target":"#p"}`)
	if b := res.Envelope(); !bytes.Contains(b, []byte(`"target":"#p"`)) || bytes.Contains(b, []byte("hunter2")) {
		t.Errorf("got %s", b)
	}
}
