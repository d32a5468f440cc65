package primitives

import "github.com/outrider-run/outrider/primitives/quirks"

// FidelityTrusted says that events came from the browser's input pipeline, so
// that focus, hover, defaults and isTrusted are those of a real device.
const (
	FidelityTrusted   = "trusted"
	FidelitySynthetic = "synthetic"
)

// OpenedDialog says that a dialog opened while input was handled. The input was
// sent; the page waits for browser.dismiss_dialog.
type OpenedDialog struct {
	Type string `json:"type"`
}

func DialogOpenOn(p Page) *OpenedDialog {
	if d, open := p.Dialog(); open {
		return &OpenedDialog{Type: d.Type}
	}
	return nil
}

// FidelityOf says how Mouse makes its events on p.
func FidelityOf(p Page) string {
	if QuirksOf(p).Has(quirks.SyntheticInput) {
		return FidelitySynthetic
	}
	return FidelityTrusted
}
