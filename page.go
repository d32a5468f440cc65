package outrider

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/client"
)

// Goto opens an address in the tab and waits for it to load: for at most 15 s, and a page that goes on loading is no
// error. It returns the status of the answer, 0 where there is none.
func (t *Tab) Goto(ctx context.Context, address string) (status int, err error) {
	r, err := client.BrowserNavigate(ctx, t, client.BrowserNavigateArgs{URL: address})
	if err != nil {
		return 0, err
	}
	return r.Status, nil
}

// Reload loads the page again and waits as Goto does.
func (t *Tab) Reload(ctx context.Context) error {
	_, err := client.BrowserNavigate(ctx, t, client.BrowserNavigateArgs{Reload: true})
	return err
}

// Back goes back in the history and waits as Goto does. Where there is no entry before, it is navigation_failed.
func (t *Tab) Back(ctx context.Context) error { return t.history(ctx, "back") }

// Forward goes forward in the history and waits as Goto does. Where there is no entry after, it is navigation_failed.
func (t *Tab) Forward(ctx context.Context) error { return t.history(ctx, "forward") }

func (t *Tab) history(ctx context.Context, action string) error {
	_, err := client.PageHistory(ctx, t, client.PageHistoryArgs{Action: action})
	return err
}

// SetContent makes an HTML document the content of the page, at the address that it has.
func (t *Tab) SetContent(ctx context.Context, html string) error {
	const write = `html => { document.open(); document.write(html); document.close(); return true }`
	_, err := Evaluate[bool](ctx, t, write, html)
	if err != nil {
		return err
	}
	return t.waitFor(ctx, client.PageWaitCondition{Load: "load"})
}

// HTML is the HTML of the document as it is now, without its frames.
func (t *Tab) HTML(ctx context.Context) (string, error) {
	s, err := t.OpenCDP(ctx)
	if err != nil {
		return "", err
	}
	defer s.Close()
	var document struct {
		Root struct {
			NodeID int `json:"nodeId"`
		} `json:"root"`
	}
	if err := s.Call(ctx, "DOM.getDocument", map[string]int{"depth": 0}, &document); err != nil {
		return "", err
	}
	var out struct {
		OuterHTML string `json:"outerHTML"`
	}
	err = s.Call(ctx, "DOM.getOuterHTML", map[string]int{"nodeId": document.Root.NodeID}, &out)
	return out.OuterHTML, err
}

// Type types text at the focus, one key after the other.
func (t *Tab) Type(ctx context.Context, text string) error {
	_, err := client.TextType(ctx, t, client.TextTypeArgs{Text: text, Trusted: true})
	return err
}

// Press presses a key or a chord at the focus, such as Enter or Control+A.
func (t *Tab) Press(ctx context.Context, key string) error {
	_, err := client.KeyboardPress(ctx, t, client.KeyboardPressArgs{Key: key})
	return err
}

// Text is the text of the page as it is drawn, with its frames.
func (t *Tab) Text(ctx context.Context) (string, error) {
	r, err := client.PageExtract(ctx, t, client.PageExtractArgs{Formats: []string{"text"}, MaxBytes: 8_000_000})
	if err != nil {
		return "", err
	}
	return r.Text, nil
}

// Snapshot is the page as an outline of roles and names with refs, for [Tab.ByRef].
func (t *Tab) Snapshot(ctx context.Context) (string, error) {
	r, err := client.PageSnapshot(ctx, t, client.PageSnapshotArgs{})
	if err != nil {
		return "", err
	}
	return r.Text, nil
}

// Screenshot is a PNG of what the viewport shows.
func (t *Tab) Screenshot(ctx context.Context) ([]byte, error) {
	return t.ScreenshotWith(ctx, client.BrowserScreenshotArgs{})
}

// FullScreenshot is a PNG of the whole page.
func (t *Tab) FullScreenshot(ctx context.Context) ([]byte, error) {
	return t.ScreenshotWith(ctx, client.BrowserScreenshotArgs{FullPage: true})
}

// largestPDF is the most that page.pdf takes as a limit, in bytes.
const largestPDF = 50_000_000

// PDF prints the page.
func (t *Tab) PDF(ctx context.Context) ([]byte, error) { return t.PDFWith(ctx, client.PagePDFArgs{}) }

// PDFWith prints the page with a paper, margins, pages and so on.
func (t *Tab) PDFWith(ctx context.Context, how client.PagePDFArgs) ([]byte, error) {
	if how.MaxBytes == 0 {
		how.MaxBytes = largestPDF
	}
	r, err := client.PagePDF(ctx, t, how)
	if err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.DecodeString(r.Base64)
	return data, fromFault(err)
}

// ScreenshotWith is a picture with options, such as a JPEG of the whole page.
func (t *Tab) ScreenshotWith(ctx context.Context, arguments client.BrowserScreenshotArgs) ([]byte, error) {
	r, err := client.BrowserScreenshot(ctx, t, arguments)
	if err != nil {
		return nil, err
	}
	image, err := r.Image()
	return image, fromFault(err)
}

// WaitURL waits until the address of the page is one: a glob when it has a star (* within a path segment, ** anything),
// else a part of it.
func (t *Tab) WaitURL(ctx context.Context, address string) error {
	raw, err := json.Marshal(address)
	if err != nil {
		return fromFault(err)
	}
	return t.waitFor(ctx, client.PageWaitCondition{URL: raw})
}

// WaitText waits until the page shows a text. White space does not count.
func (t *Tab) WaitText(ctx context.Context, text string) error {
	return t.waitFor(ctx, client.PageWaitCondition{Text: text})
}

// WaitIdle waits until no request was under way for a time.
func (t *Tab) WaitIdle(ctx context.Context, quiet time.Duration) error {
	return t.waitFor(ctx, client.PageWaitCondition{NetworkIdleMS: int(quiet.Milliseconds())})
}

func (t *Tab) waitFor(ctx context.Context, condition client.PageWaitCondition) error {
	_, err := client.PageWait(ctx, patient{t, nil}, client.PageWaitArgs{
		Conditions: []client.PageWaitCondition{condition}, TimeoutMS: t.root().wait(ctx),
	})
	if e, ok := err.(*Error); ok && e.ended != nil {
		e.tell("waited_for", condition)
	}
	return err
}
