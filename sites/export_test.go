package sites

import (
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites/location"
)

// FromBundle is ParseBundle and Library in one.
func FromBundle(raw json.RawMessage, opts Options) (*Library, []FileReport, *fault.Error) {
	b, err := ParseBundle(raw)
	if err != nil {
		return nil, nil, err
	}
	l, reports := b.Library(opts)
	return l, reports, nil
}

// Applies reports whether the map applies to the page of an address.
func (m *Map) Applies(pageURL string) bool { return m.applies(location.ParsePage(pageURL)) }
