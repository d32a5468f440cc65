package primitives

import "slices"

// All lists the primitives of every family.
func All() []*Primitive {
	return slices.Concat(
		a11yPrimitives(),
		browserPrimitives(),
		clipboardPrimitives(),
		domPrimitives(),
		emulatePrimitives(),
		filesPrimitives(),
		keyboardPrimitives(),
		locatorPrimitives(),
		networkPrimitives(),
		overlayPrimitives(),
		pagePrimitives(),
		pointerPrimitives(),
		sessionPrimitives(),
		storagePrimitives(),
		textPrimitives(),
	)
}

// Standard returns a registry of every primitive of this host. The families are
// written down here, and each writes down its primitives: what is in no list does
// not exist. A test compares them with the records.
func Standard() *Registry { return NewRegistry(All()...) }
