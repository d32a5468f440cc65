// Command drivers does with chromedp what BenchmarkDrivers of runtime/browser does with Outrider, one operation for
// each line of stdin, and says how long it took. It is a module of its own, so that chromedp is nobody else's
// dependency. make bench-drivers builds and starts it, and playwright.mjs and mcp.mjs beside it, which speak the
// same lines. first navigates, and times the snapshot after it.
//
//	version | open URL | navigate URL | first URL | click | fill | type | evaluate | extract ROWS | snapshot |
//	picture | late | cold URL
//
// The answer is a number of milliseconds, "none" for what the driver does not have, or "error: " and a reason. Of
// version it is the version.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// text is what is typed.
const text = "the quick brown fox jump"

const rows = `Array.from(document.querySelectorAll('.row'), e => ({id: e.getAttribute('data-id'),
	title: e.querySelector('h3').textContent, url: e.querySelector('a').getAttribute('href'), price: e.querySelector('.price').textContent}))`

type record struct{ ID, Title, URL, Price string }

var errNone = errors.New("none")

func main() {
	d := &driver{}
	defer func() {
		if d.close != nil {
			d.close()
		}
	}()
	in, out := bufio.NewScanner(os.Stdin), os.Stdout
	for in.Scan() {
		op, arg, _ := strings.Cut(in.Text(), " ")
		if op == "version" {
			fmt.Fprintln(out, version())
			continue
		}
		took, err := d.run(op, arg)
		switch {
		case errors.Is(err, errNone):
			fmt.Fprintln(out, "none")
		case err != nil:
			fmt.Fprintln(out, "error:", strings.ReplaceAll(err.Error(), "\n", " "))
		default:
			fmt.Fprintln(out, float64(took.Nanoseconds())/1e6)
		}
	}
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "github.com/chromedp/chromedp" {
				return strings.TrimPrefix(m.Version, "v")
			}
		}
	}
	return "of an unknown version"
}

type driver struct {
	tab   context.Context
	close func()
}

// start launches a browser with one tab.
func start() (tab context.Context, closes func(), err error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:len(
		chromedp.DefaultExecAllocatorOptions,
	):len(chromedp.DefaultExecAllocatorOptions)],
		chromedp.ExecPath(os.Getenv("OUTRIDER_BROWSER")), chromedp.WindowSize(1280, 720))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, free := chromedp.NewExecAllocator(context.Background(), options...)
	tab, cancel := chromedp.NewContext(allocator)
	closes = func() {
		_ = chromedp.Cancel(tab) // asks the browser to end, and waits for it
		cancel()
		free()
	}
	if err := chromedp.Do(tab); err != nil {
		closes()
		return nil, nil, err
	}
	return tab, closes, nil
}

func (d *driver) run(op, arg string) (took time.Duration, err error) {
	if op == "cold" {
		began := time.Now()
		tab, closes, err := start()
		if err != nil {
			return 0, err
		}
		err = chromedp.Do(tab, chromedp.Navigate(arg))
		took = time.Since(began)
		closes()
		return took, err
	}
	if d.tab == nil {
		d.tab, d.close, err = start()
		if err != nil {
			return 0, err
		}
	}
	out, name := chromedp.CSS("#out"), chromedp.CSS("#name")
	switch op {
	case "open", "navigate":
		took, _, err = timed(d, chromedp.Navigate(arg))
	case "click":
		before, err := chromedp.Run(d.tab, chromedp.TextContent(out))
		if err != nil {
			return 0, err
		}
		took, _, err = timed(d, chromedp.Click(chromedp.CSS("#go")))
		if err != nil {
			return 0, err
		}
		after, err := chromedp.Run(d.tab, chromedp.TextContent(out))
		return took, cmp.Or(err, wanted(before != after, "the click did nothing"))
	case "type":
		took, _, err = timed(d, chromedp.SendKeys(name, text))
		if err != nil {
			return 0, err
		}
		value, err := chromedp.Run(d.tab, chromedp.Value(name))
		if err != nil {
			return 0, err
		}
		return took, cmp.Or(
			wanted(value == text, "the field has %q", value),
			chromedp.Do(d.tab, chromedp.Evaluate[chromedp.Void]("document.querySelector('#name').value = ''")),
		)
	case "evaluate":
		n := 0
		took, n, err = timed(d, chromedp.Evaluate[int]("1+1"))
		err = cmp.Or(err, wanted(n == 2, "1+1 is %d", n))
	case "extract":
		var got []record
		took, got, err = timed(d, chromedp.Evaluate[[]record](rows))
		err = cmp.Or(
			err, wanted(fmt.Sprint(len(got)) == arg && got[1].Title == "Item 1", "%d records of %s", len(got), arg),
		)
	case "snapshot":
		took, err = snapshot(d, 1000)
	case "first":
		if err := chromedp.Do(d.tab, chromedp.Navigate(arg)); err != nil {
			return 0, err
		}
		took, err = snapshot(d, 3)
	case "picture":
		quality := int64(80)
		took, _, err = timed(d, func(ctx context.Context, t *chromedp.Target) (page.CaptureScreenshotResult, error) {
			return cdp.Call(ctx, t, page.CaptureScreenshot, page.CaptureScreenshotParams{
				Format:  page.CaptureScreenshotFormatJpeg,
				Quality: &quality,
			})
		})
	case "late":
		if err := chromedp.Do(
			d.tab, chromedp.Evaluate[chromedp.Void]("later()"), chromedp.WaitVisible(chromedp.CSS("#late")),
		); err != nil {
			return 0, err
		}
		end := time.Now()
		since, err := chromedp.Run(d.tab, chromedp.Evaluate[float64]("since"))
		return end.Sub(time.UnixMicro(int64(since * 1e3))), err
	default:
		return 0, errNone
	}
	return took, err
}

// snapshot reads the browser's accessibility tree, which has more than so many nodes.
func snapshot(d *driver, least int) (took time.Duration, err error) {
	took, tree, err := timed(d, func(
		ctx context.Context, t *chromedp.Target,
	) (accessibility.GetFullAXTreeResult, error) {
		return cdp.Call(ctx, t, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	})
	return took, cmp.Or(err, wanted(len(tree.Nodes) > least, "%d nodes", len(tree.Nodes)))
}

func timed[T any](d *driver, action chromedp.Action[T]) (took time.Duration, value T, err error) {
	began := time.Now()
	value, err = chromedp.Run(d.tab, action)
	return time.Since(began), value, err
}

func wanted(is bool, format string, args ...any) error {
	if is {
		return nil
	}
	return fmt.Errorf(format, args...)
}
