package location

import (
	"path"
	"path/filepath"
	"strings"
)

// SiteTail returns the part of a path from the last sites folder on whose next
// folder can only be a host.
func SiteTail(full string) (string, bool) {
	for end := len(full); ; {
		i := strings.LastIndex(full[:end], "/sites/")
		if i < 0 {
			return "", false
		}
		if host, _, ok := strings.Cut(full[i+len("/sites/"):], "/"); ok && HostLike(host) {
			return full[i+1:], true
		}
		end = i
	}
}

// AgentPath names a file that is in no storage folder. Agents learn what the
// user typed, not where his home is.
func AgentPath(name string) string {
	p := path.Clean(filepath.ToSlash(name))
	if filepath.IsAbs(name) || strings.HasPrefix(p, "../") {
		parts := strings.Split(p, "/")
		return strings.Join(parts[max(0, len(parts)-2):], "/")
	}
	return p
}

// ShownPath is the path of a report as agents may see it: from the storage root,
// or without the folders above.
func ShownPath(name string) string {
	slashed := filepath.ToSlash(name)
	if tail, ok := StoragePath(slashed); ok {
		return tail
	}
	if tail, ok := SiteTail(slashed); ok {
		return tail
	}
	return AgentPath(name)
}
