package sites

// URLMatches reports whether pattern covers the whole of a page's address: the
// meaning of url_matches everywhere in a map. A * is any run of characters,
// case does not count, and a blank pattern covers everything.
func URLMatches(pattern, pageURL string) bool { return wildcard(pattern, pageURL) }
