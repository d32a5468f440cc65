package address

import "strings"

// Contains reports whether the address of a page has a part, as people write it: case does not count, and the part
// means what Part makes of it.
func Contains(raw, part string) bool {
	return strings.Contains(strings.ToLower(raw), strings.ToLower(Part(part)))
}

// Matches reports whether a pattern covers the whole of the address of a page. A * is any run of characters, case does
// not count, a blank pattern covers everything, and the rest means what Part makes of it.
func Matches(raw, pattern string) bool {
	raw, pattern = strings.ToLower(raw), strings.ToLower(Part(strings.TrimSpace(pattern)))
	if pattern == "" {
		return true
	}
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return raw == pattern
	}
	rest, ok := strings.CutPrefix(raw, parts[0])
	if !ok {
		return false
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, parts[last])
}
