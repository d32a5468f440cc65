package emulate

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
)

type emulateWebDriverIn struct {
	// Value is the value of navigator.webdriver; nil ends the emulation.
	Value *bool `json:"value"`
}

// emulateWebDriver sets navigator.webdriver, in the documents that are there and
// in every new one before its own scripts run. Nothing else that a page can find
// out changes. A document in which the emulation ends keeps the emulated value.
var emulateWebDriver = primitives.Define("emulate.webdriver", func(
	ctx context.Context, p primitives.Page, in emulateWebDriverIn,
) (emulateOut, error) {
	if in.Value != nil {
		return emulate(ctx, p, primitives.Emulation{WebDriver: &primitives.WebDriverEmulation{Value: *in.Value}})
	}
	if err := p.ClearEmulation(ctx, []string{"webdriver"}); err != nil {
		return emulateOut{}, err
	}
	return emulateOut{p.Emulated()}, nil
})
