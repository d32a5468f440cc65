package runtime

import "github.com/outrider-run/outrider/primitives"

// stores is what a host's session keeps beside its pages. It ends with the
// host.
type stores struct {
	clipboard primitives.Clipboard
}

// Clipboard implements primitives.Stores.
func (s session) Clipboard() *primitives.Clipboard { return &s.host.stores.clipboard }
