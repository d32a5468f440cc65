package emulate

import (
	"context"
	"strconv"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// kindWebDriver names the script of navigator.webdriver among those of a session.
const kindWebDriver = "webdriver"

// webDriverCommand has every new document of a session define navigator.webdriver
// before its own scripts run, and the documents that are there at once. It is
// defined where the browser has it, on the prototype: a property of navigator
// itself would be a sign of its own.
func webDriverCommand(w *primitives.WebDriverEmulation) cdp.Command {
	source := "Object.defineProperty(Navigator.prototype,'webdriver',{get(){return " + strconv.FormatBool(w.Value) +
		"},configurable:true,enumerable:true})"
	return cdp.Command{
		Method: addScript,
		Params: append(cdp.AppendQuoted([]byte(`{"runImmediately":true,"source":`), source), '}'),
	}
}

// applyWebDriver replaces the script of every session, or removes it for nil.
func (e *Emulator) applyWebDriver(ctx context.Context, w *primitives.WebDriverEmulation) error {
	e.mu.Lock()
	e.now.WebDriver = w // for frames that begin from here on, before the list of sessions is taken
	e.mu.Unlock()
	if w == nil {
		return e.replaceScript(ctx, kindWebDriver, nil, false)
	}
	c := webDriverCommand(w)
	return e.replaceScript(ctx, kindWebDriver, &c, true)
}
