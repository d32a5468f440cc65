// Package entries has what lists of recorded entries share: filters and the newest entries. It
// knows none of the entries. Families that list what was recorded call it.
package entries

import (
	"slices"
)

// Passes reports whether v passes a filter; an empty filter passes everything.
func Passes(filter []string, v string) bool { return len(filter) == 0 || slices.Contains(filter, v) }

// Newest keeps the last entries up to limit, 0 for the default.
func Newest[T any](list []T, limit int) (kept []T, omitted int) {
	if limit <= 0 {
		limit = defaultEntries
	}
	omitted = max(0, len(list)-limit)
	return list[omitted:], omitted
}

const defaultEntries = 100
