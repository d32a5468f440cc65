package call

// Change is a kind of change of a tab, for the features that follow it.
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
