package primitives

import "github.com/outrider-run/outrider/primitives/quirks"

// fidelityTrusted says that events came from the browser's input pipeline, so
// that focus, hover, defaults and isTrusted are those of a real device.
const (
	fidelityTrusted   = "trusted"
	fidelitySynthetic = "synthetic"
)

// seenDialog says that a dialog opened while input was handled. The input was
// sent; the page waits for browser.dismiss_dialog.
type seenDialog struct {
	Type string `json:"type"`
}

func dialogOf(p Page) *seenDialog {
	if d, open := p.Dialog(); open {
		return &seenDialog{Type: d.Type}
	}
	return nil
}

// fidelityOf says how Mouse makes its events on p.
func fidelityOf(p Page) string {
	if QuirksOf(p).Has(quirks.SyntheticInput) {
		return fidelitySynthetic
	}
	return fidelityTrusted
}
