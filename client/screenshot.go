package client

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// Image returns the bytes of the PNG or JPEG file.
func (r *BrowserScreenshotResult) Image() ([]byte, error) {
	_, encoded, ok := strings.Cut(r.DataURL, ";base64,")
	if !ok {
		return nil, errors.New("the screenshot holds no image")
	}
	image, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, fmt.Errorf("decoding the screenshot: %w", err)
	}
	return image, nil
}
