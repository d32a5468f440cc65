package call

// Change is what changed about a tab, for what follows it beside its calls.
type Change int

const (
	// AddressChanged: the address or the title of the document is another one.
	AddressChanged Change = iota
	// DocumentReplaced: the tab has another main document.
	DocumentReplaced
	// FramesChanged: frames were attached or detached. It is reported from the
	// reader of the browser, so nothing may block.
	FramesChanged
	// StatesChanged: other states of maps are current.
	StatesChanged
	// MapsChanged: other maps are on offer.
	MapsChanged
)
