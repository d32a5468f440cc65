package tasks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider"
	"github.com/outrider-run/outrider/client"
)

// The tasks of chromedp's API.md. As there, the browser has started, and each error is looked at.

//task:chromedp/1 navigate and read a value
func chromedpNavigate(ctx context.Context, tab *outrider.Tab, site string) error {
	if _, err := tab.Goto(ctx, site); err != nil {
		return err
	}
	fmt.Println(tab.Title())
	return nil
}

//task:chromedp/2 HTML of an element, click and read again
func chromedpHTML(ctx context.Context, tab *outrider.Tab, site string) (before, after string, err error) {
	if _, err := tab.Goto(ctx, site); err != nil {
		return "", "", err
	}
	content := tab.BySelector("#content")
	before, err = content.HTML(ctx)
	if err != nil {
		return "", "", err
	}
	if err := content.Click(ctx); err != nil {
		return "", "", err
	}
	after, err = content.HTML(ctx)
	return before, after, err
}

//task:chromedp/3 click a link and wait for the new page
func chromedpClickAndWait(ctx context.Context, tab *outrider.Tab) error {
	answer, err := tab.WaitResponse(ctx, "/foo", func() error { return tab.BySelector("#foo").Click(ctx) })
	if err != nil {
		return err
	}
	fmt.Println("status code:", answer.Status)
	return tab.WaitNavigation(ctx, func() error { return tab.BySelector("#next").Click(ctx) })
}

//task:chromedp/4 fill a form
func chromedpForm(ctx context.Context, tab *outrider.Tab, site string) (name, color string, err error) {
	if _, err := tab.Goto(ctx, site); err != nil {
		return "", "", err
	}
	if err := tab.BySelector("#name").Fill(ctx, "Ada"); err != nil {
		return "", "", err
	}
	if err := tab.BySelector("#color").Fill(ctx, "green"); err != nil {
		return "", "", err
	}
	name, err = tab.BySelector("#name").Value(ctx)
	if err != nil {
		return "", "", err
	}
	color, err = tab.BySelector("#color").Value(ctx)
	return name, color, err
}

//task:chromedp/5 wait for an event with no race
func chromedpEvents(ctx context.Context, tab *outrider.Tab, site string) error {
	console := tab.Console(ctx)
	if _, err := tab.Goto(ctx, site); err != nil {
		return err
	}
	for line, err := range console {
		if err != nil {
			return err
		}
		fmt.Println("*", line.Level, line.Text)
		if line.Level == "exception" {
			break
		}
	}
	return nil
}

//task:chromedp/6 close a dialog while an action waits
func chromedpDialog(ctx context.Context, tab *outrider.Tab) {
	dialogs := tab.Dialogs(ctx)
	go func() {
		for dialog, err := range dialogs {
			if err != nil {
				return
			}
			fmt.Println("closing alert:", dialog.Message)
			if err := dialog.Accept(ctx, ""); err != nil {
				fmt.Println(err)
			}
		}
	}()
}

//task:chromedp/7 screenshots
func chromedpScreenshot(ctx context.Context, tab *outrider.Tab, site string) ([]byte, error) {
	if _, err := tab.Goto(ctx, site); err != nil {
		return nil, err
	}
	return tab.FullScreenshot(ctx)
}

//task:chromedp/8 evaluate with a typed result
func chromedpEvaluate(ctx context.Context, tab *outrider.Tab) error {
	sum, err := outrider.Evaluate[int](ctx, tab, `1 + 2`)
	if err != nil {
		return err
	}
	raw, err := outrider.Evaluate[json.RawMessage](ctx, tab, `({ a: 1 })`)
	if err != nil {
		return err
	}
	fmt.Println(sum, string(raw))
	_, err = outrider.Evaluate[any](ctx, tab, `window.scrollTo(0, 100)`)
	return err
}

//task:chromedp/9 emulate a device
func chromedpEmulate(ctx context.Context, tab *outrider.Tab, site string) ([]byte, error) {
	if err := tab.Emulate(ctx, outrider.Device("iPhone SE")); err != nil {
		return nil, err
	}
	if _, err := tab.Goto(ctx, site); err != nil {
		return nil, err
	}
	if err := tab.BySelector("textarea[name=q]").Type(ctx, "what's my user agent?\n"); err != nil {
		return nil, err
	}
	if err := tab.BySelector("#zci-answer").Wait(ctx, "visible"); err != nil {
		return nil, err
	}
	return tab.Screenshot(ctx)
}

//task:chromedp/10 network events with an iterator
func chromedpNetwork(ctx context.Context, t *testing.T, tab *outrider.Tab, site string) {
	responses := tab.Responses(ctx)
	if _, err := tab.Goto(ctx, site); err != nil {
		t.Fatal(err)
	}
	for r, err := range responses {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(strings.TrimPrefix(r.URL, site), r.Status)
		if strings.HasSuffix(r.URL, "/image.png") {
			break
		}
	}
}

//task:chromedp/11 a custom command
func chromedpCommand(ctx context.Context, tab *outrider.Tab, site string) ([]byte, error) {
	var pdf struct{ Data []byte }
	if _, err := tab.Goto(ctx, site); err != nil {
		return nil, err
	}
	err := tab.CDP(ctx, "Page.printToPDF", map[string]any{"landscape": true}, &pdf)
	return pdf.Data, err
}

//task:chromedp/13 a query from another node
func chromedpWithin(ctx context.Context, tab *outrider.Tab) (root, within string, err error) {
	root, err = tab.BySelector(".content").First().Text(ctx)
	if err != nil {
		return "", "", err
	}
	within, err = tab.BySelector("section").BySelector(".content").Text(ctx)
	return root, within, err
}

//task:chromedp/14 a visible window
func chromedpWindow(ctx context.Context, site string) error {
	headed := outrider.BrowserOptions{Headed: true}
	s, err := outrider.Open(ctx, outrider.Options{Open: []string{site}, Browser: headed})
	if err != nil {
		return err
	}
	return s.Close()
}

//task:chromedp/15 a remote browser that needs headers
func chromedpRemote(ctx context.Context, address, token string) (*outrider.Session, error) {
	return outrider.Open(ctx, outrider.Options{Browser: outrider.BrowserOptions{
		Attach: address, AttachHeader: http.Header{"Authorization": {"Bearer " + token}},
	}})
}

//task:chromedp/16 tap on a touch screen
func chromedpTap(ctx context.Context, tab *outrider.Tab, site string) error {
	phone := outrider.Emulation{Width: 375, Height: 812, Mobile: true, Touch: true}
	if err := tab.Emulate(ctx, phone); err != nil {
		return err
	}
	if _, err := tab.Goto(ctx, site); err != nil {
		return err
	}
	return tab.BySelector("#menu").Tap(ctx)
}

//task:chromedp/18 actions in parallel
func chromedpParallel(ctx context.Context, s *outrider.Session, urls []string) {
	var wg sync.WaitGroup
	for _, url := range urls {
		wg.Go(func() {
			tab, err := s.NewTab(ctx, url)
			if err != nil {
				fmt.Println(url, err)
				return
			}
			_ = tab.Close(ctx)
		})
	}
	wg.Wait()
}

//task:chromedp/19 an iframe from another site
func chromedpFrame(ctx context.Context, tab *outrider.Tab) (string, error) {
	return tab.BySelector("#inner").In("iframe").Text(ctx)
}

//task:chromedp/20 a new line to an editor
func chromedpNewLine(ctx context.Context, editor outrider.Locator) error {
	if err := editor.Type(ctx, "Hello"); err != nil {
		return err
	}
	if err := editor.Press(ctx, "Enter"); err != nil {
		return err
	}
	return editor.Type(ctx, "World")
}

//task:chromedp/21 a timeout for one action
func chromedpTimeout(ctx context.Context, tab *outrider.Tab, site string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := tab.Goto(ctx, site)
	return err
}

//task:chromedp/22 a flag of the browser
func chromedpFlag(ctx context.Context) (*outrider.Session, error) {
	flags := outrider.BrowserOptions{Flags: []string{"--disable-dev-shm-usage=false"}}
	return outrider.Open(ctx, outrider.Options{Browser: flags})
}

//task:chromedp/23 elements in a custom way
func chromedpCustom(ctx context.Context, tab *outrider.Tab) error {
	return tab.ByTestID("submit").Click(ctx)
}

//task:chromedp/24 drag and drop
func chromedpDrag(ctx context.Context, tab *outrider.Tab, site string) error {
	if _, err := tab.Goto(ctx, site); err != nil {
		return err
	}
	return tab.BySelector("#card").DragTo(ctx, tab.BySelector("#done-column"))
}

//task:chromedp/25 the console and the uncaught exceptions
func chromedpConsole(ctx context.Context, t *testing.T, tab *outrider.Tab, site string) {
	lines := tab.Console(ctx)
	if _, err := tab.Goto(ctx, site); err != nil {
		t.Fatal(err)
	}
	for line, err := range lines {
		if err != nil {
			break
		}
		fmt.Printf("%s:%d %s\n", line.URL, line.Line, line.Text)
		if line.Level == "exception" {
			break
		}
	}
}

//task:chromedp/26 call a Go func from the page
func chromedpExpose(ctx context.Context, tab *outrider.Tab, site string) error {
	type user struct{ Name string }
	_, err := outrider.Expose(ctx, tab, "greet", func(_ context.Context, u user) (string, error) {
		return "hello " + u.Name, nil
	})
	if err != nil {
		return err
	}
	_, err = outrider.Expose(ctx, tab, "sum", func(_ context.Context, args []float64) (sum float64, err error) {
		for _, a := range args {
			sum += a
		}
		return sum, nil
	})
	if err != nil {
		return err
	}
	_, err = tab.Goto(ctx, site)
	return err
}

//task:chromedp/27 print to PDF with options
func chromedpPDF(ctx context.Context, tab *outrider.Tab) ([]byte, error) {
	return tab.PDFWith(ctx, client.PagePDFArgs{
		Format: "A4", Landscape: true, FooterTemplate: `<span class="pageNumber"></span>`,
		MarginsInches: &client.PagePDFMarginsInches{Top: 0.5, Right: 0.5, Bottom: 0.5, Left: 0.5},
	})
}

//task:chromedp/28 events of all types in order
func chromedpInOrder(ctx context.Context, tab *outrider.Tab, site string) (log []string, err error) {
	s, err := tab.OpenCDP(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for _, domain := range []string{"Runtime.enable", "Page.enable"} {
		if err := s.Call(ctx, domain, nil, nil); err != nil {
			return nil, err
		}
	}
	events := s.Events(ctx, "Runtime.consoleAPICalled", "Page.frameNavigated", "Page.loadEventFired")
	if _, err := tab.Goto(ctx, site); err != nil {
		return nil, err
	}
	for e := range events {
		log = append(log, e.Method)
		if e.Method == "Page.loadEventFired" {
			break
		}
	}
	return log, nil
}

//task:chromedp/29 know when a tab goes away
func chromedpDetached(ctx context.Context, tab *outrider.Tab) <-chan struct{} {
	gone := make(chan struct{})
	events := tab.Session().Events(ctx)
	go func() {
		for e := range events {
			if e.Kind == outrider.TabRemoved && e.Tab.ID() == tab.ID() {
				close(gone)
			}
		}
	}()
	return gone
}

//task:chromedp/30 the events of the start of a tab
func chromedpStart(ctx context.Context, tab *outrider.Tab) (n int, err error) {
	s, err := tab.OpenCDP(ctx)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	events := s.Events(ctx, "Runtime.executionContextCreated")
	if err := s.Call(ctx, "Runtime.enable", nil, nil); err != nil {
		return 0, err
	}
	for range events {
		if n++; n == 2 {
			break
		}
	}
	return n, nil
}
