package fault

// Clip cuts s to n bytes at a rune boundary and marks the cut. Evidence holds
// text of the page and of maps, which has no bound of its own.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "..."
}
