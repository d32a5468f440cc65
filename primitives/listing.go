package primitives

import (
	"slices"
	"time"
)

// oneOf says whether v passes a filter; an empty filter passes everything.
func oneOf(filter []string, v string) bool { return len(filter) == 0 || slices.Contains(filter, v) }

// newest keeps the last entries up to limit, 0 for the default.
func newest[T any](list []T, limit int) (kept []T, omitted int) {
	if limit <= 0 {
		limit = defaultEntries
	}
	omitted = max(0, len(list)-limit)
	return list[omitted:], omitted
}

func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

const defaultEntries = 100
