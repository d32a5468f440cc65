// Package emulate holds the primitives emulate.*: viewport, locale, time zone, place, media, network and user
// agent of a tab. It only checks and passes on what primitives.EmulatedPage carries out. The catalog lists it.
package emulate

import "github.com/outrider-run/outrider/primitives"

// Primitives lists the primitives of this family. One that is not listed does not exist.
func Primitives() []*primitives.Primitive {
	return []*primitives.Primitive{
		emulateViewport,
		emulateLocale,
		emulateTimezone,
		emulateClock,
		emulateGeolocation,
		emulateMedia,
		emulateNetwork,
		emulateUserAgent,
		emulateWebDriver,
		emulateReset,
	}
}
