// Package doctor tries each thing that the main job needs on this machine, and says
// what works, what does not, and how to mend it. It mends nothing itself. The verb
// doctor calls it.
package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/sites/demo"
)

// Check is one thing that was tried.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}

// Print writes the check for people.
func (c Check) Print(w io.Writer) {
	mark := "ok  "
	if !c.OK {
		mark = "FAIL"
	}
	fmt.Fprintf(w, "%s  %-12s %s\n", mark, c.Name, c.Detail)
	if c.Fix != "" {
		fmt.Fprintf(w, "      %-12s fix: %s\n", "", c.Fix)
	}
}

func failing(name string, err error, fix string) Check {
	c := Check{Name: name, Detail: err.Error(), Fix: fix}
	var f *fault.Error
	if errors.As(err, &f) {
		c.Detail = f.Message
		if f.NextStep != "" {
			c.Fix = f.NextStep
		}
	}
	return c
}

// Examine tries each thing the main job needs, in the order in which it needs
// them. A check that fails ends those that build on it.
func Examine(ctx context.Context, options runtime.Options) []Check {
	var out []Check
	out = append(out, checkEngine(ctx, options.Engine))

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return append(out, failing("loopback", err, "allow this program to listen on 127.0.0.1"))
	}
	out = append(out, Check{Name: "loopback", OK: true, Detail: "listening on " + listener.Addr().String()})
	server := &http.Server{Handler: demo.Handler(0), ReadHeaderTimeout: 5 * time.Second}
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(listener) }()
	defer func() { _ = server.Close(); <-served }()

	if options.Browser.Attach == "" {
		found, err := options.Browser.Find()
		if err != nil {
			return append(out, failing("browser", err, ""))
		}
		detail := found.Path + " (" + found.Kind() + ", " + found.Source + ")"
		out = append(out, Check{Name: "browser", OK: true, Detail: detail})
	}
	options.Open = []string{"http://" + listener.Addr().String() + "/"}
	began := time.Now()
	h, err := runtime.Open(ctx, options)
	if err != nil {
		return append(out, failing("start", err, remedy(err)))
	}
	defer func() { _ = h.Close(context.WithoutCancel(ctx)) }()
	out = append(out, Check{
		Name:   "start",
		OK:     true,
		Detail: fmt.Sprintf("%s, page loaded after %s", h.Info().Browser, time.Since(began).Round(time.Millisecond)),
	})
	for _, c := range []struct{ name, primitive, args string }{
		{"page", "page.info", "{}"},
		{"locator", "locator.element_info", `{"locator":{"selector":"#refresh"}}`},
		{"pointer", "pointer.move", `{"x":10,"y":10}`},
		{"screenshot", "browser.screenshot", `{"format":"jpeg","max_width":320}`},
	} {
		began := time.Now()
		r := h.Do(ctx, runtime.Call{
			ID:        options.NewID(),
			Target:    first(h),
			Name:      c.primitive,
			Arguments: json.RawMessage(c.args),
			Timeout:   10 * time.Second,
		})
		if r.Err != nil {
			out = append(out, failing(c.name, r.Err, ""))
			continue
		}
		out = append(out, Check{
			Name:   c.name,
			OK:     true,
			Detail: fmt.Sprintf("%s in %s", c.primitive, time.Since(began).Round(100*time.Microsecond)),
		})
	}
	return append(out, Check{
		Name:   "dictionary",
		OK:     true,
		Detail: fmt.Sprintf("%d primitives", len(options.Registry.Names())),
	})
}

// remedy is what to do about a browser that did not start.
func remedy(err error) string {
	for said, fix := range map[string]string{
		"Too many open files":        "raise the limit of open files, such as with ulimit -n 1024",
		"making a profile directory": "let TMPDIR name a folder that this user can write to",
		"No space left on device":    "make room where TMPDIR is",
	} {
		if strings.Contains(err.Error(), said) {
			return fix
		}
	}
	return "run the browser by hand once to see what it says"
}

func checkEngine(ctx context.Context, engine expr.Engine) Check {
	p, err := engine.Compile("$sum(a) + 1")
	if err != nil {
		return failing("expressions", err, "")
	}
	v, err := p.Eval(ctx, expr.Input{{Name: "a", JSON: json.RawMessage("[1,2]")}}, expr.Limits{})
	if err != nil {
		return failing("expressions", err, "")
	}
	if string(v.JSON) != "4" {
		return Check{Name: "expressions", Detail: "the " + engine.Name() + " engine gave a wrong value"}
	}
	return Check{Name: "expressions", OK: true, Detail: "the " + engine.Name() + " engine works"}
}

// first selects the page that was opened.
func first(h *runtime.Host) runtime.Target {
	if tabs := h.Tabs(); len(tabs) > 0 {
		return runtime.Target{RuntimeID: tabs[0].RuntimeID}
	}
	return runtime.Target{}
}
