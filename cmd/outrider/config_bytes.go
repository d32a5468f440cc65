package main

import (
	"fmt"
	"strconv"

	"github.com/outrider-run/outrider/internal/lazyregexp"
)

var bytesPattern = lazyregexp.New(`^([1-9][0-9]{0,6})(MB|GB)$`)

// parseBytes reads an amount of memory, such as 512MB. "" is 0.
func parseBytes(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	m := bytesPattern().FindStringSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("%q: expected a number of MB or GB, such as 512MB", text)
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	return n << map[string]int{"MB": 20, "GB": 30}[m[2]], err
}
