package primitives

import "context"

// emulateLocale sets the language of the page: navigator.language, Accept-Language
// and the formats of Intl. A document that is there keeps what it has read.
var emulateLocale = Define("emulate.locale", func(ctx context.Context, p Page, in LocaleEmulation) (emulateOut, error) {
	return emulate(ctx, p, Emulation{Locale: &in})
})
