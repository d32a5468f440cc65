package idempotency

import (
	"strconv"
	"strings"
)

// partMark stands between the key of a call of a tool and the number of a call that the tool makes for it.
const partMark = "\x1f"

// Part is the key of the nth call that is made for a call with a key, "" without one.
func Part(key string, n int) string {
	if key == "" {
		return ""
	}
	return key + partMark + strconv.Itoa(n)
}

// IsOf reports whether a key is key, or that of a call that was made for the call with it.
func IsOf(known, key string) bool { return known == key || strings.HasPrefix(known, key+partMark) }

// Given is the key that the caller gave, of the key of a part.
func Given(key string) string {
	given, _, _ := strings.Cut(key, partMark)
	return given
}
