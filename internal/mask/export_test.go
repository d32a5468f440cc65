package mask

import "time"

// CodeOf is the code of a seed at a time.
func CodeOf(value string, at time.Time) (string, bool) {
	s, ok := parseSeed(value)
	if !ok {
		return "", false
	}
	return s.code(at), true
}
