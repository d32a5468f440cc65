package emulate

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
)

// emulateLocale sets the language of the page: navigator.language, Accept-Language
// and the formats of Intl. A document that is there keeps what it has read.
var emulateLocale = primitives.Define("emulate.locale", func(
	ctx context.Context, p primitives.Page, in primitives.LocaleEmulation,
) (emulateOut, error) {
	return emulate(ctx, p, primitives.Emulation{Locale: &in})
})
