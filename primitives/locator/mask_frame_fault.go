package locator

import (
	"maps"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
)

// MaskFrameFault gives a frame that cannot be resolved the code that a missing
// target has there: upstream reports frames in few places only. The evidence
// names the frame all the same.
func MaskFrameFault(p primitives.Page, err error, code fault.Code) error {
	if err == nil || !primitives.QuirksOf(p).Has(quirks.FramesUnseen) || !IsFrameFault(fault.CodeOf(err)) {
		return err
	}
	f := fault.Translate(code, err, "the frame cannot be resolved")
	f.Evidence = maps.Clone(fault.From(err).Evidence)
	if code == fault.TargetNotEditable {
		f = f.With("tag_name", nil).With("reason", "not_found")
	}
	return f
}
