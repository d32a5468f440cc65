package outrider

import (
	"encoding/base64"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Image returns the bytes of the PNG or JPEG file.
func (r *BrowserScreenshotResult) Image() ([]byte, error) {
	_, encoded, ok := strings.Cut(r.DataURL, ";base64,")
	if !ok {
		return nil, fromFault(fault.New(fault.InvalidResult, "the screenshot holds no image"))
	}
	image, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, fromFault(fault.Wrap(fault.InvalidResult, err, "decoding the screenshot"))
	}
	return image, nil
}
