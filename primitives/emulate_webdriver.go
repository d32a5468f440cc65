package primitives

import "context"

type emulateWebDriverIn struct {
	// Value is what navigator.webdriver says; nil ends the emulation.
	Value *bool `json:"value"`
}

// emulateWebDriver sets navigator.webdriver, in the documents that are there and
// in every new one before its own scripts run. Nothing else that a page can find
// out changes. A document in which the emulation ends keeps what it was told.
var emulateWebDriver = Define("emulate.webdriver", func(ctx context.Context, p Page, in emulateWebDriverIn) (emulateOut, error) {
	if in.Value != nil {
		return emulate(ctx, p, Emulation{WebDriver: &WebDriverEmulation{Value: *in.Value}})
	}
	if err := p.EmulateNothing(ctx, []string{"webdriver"}); err != nil {
		return emulateOut{}, err
	}
	return emulateOut{p.Emulated()}, nil
})
