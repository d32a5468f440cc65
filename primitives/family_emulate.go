package primitives

// emulatePrimitives lists the primitives of this family. One that is not listed does not exist.
func emulatePrimitives() []*Primitive {
	return []*Primitive{
		emulateViewport,
		emulateLocale,
		emulateTimezone,
		emulateGeolocation,
		emulateMedia,
		emulateNetwork,
		emulateUserAgent,
		emulateWebDriver,
		emulateReset,
	}
}
