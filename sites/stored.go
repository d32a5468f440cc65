package sites

import (
	"io/fs"
	"strings"
)

// StoragePath is the path of a file in a storage scope: "private", "public" or
// "shared/<name>". ok is false when scope or name could mean something outside
// of it.
func StoragePath(scope, name string) (full string, ok bool) {
	shared, isShared := strings.CutPrefix(scope, "shared/")
	if scope != "private" && scope != "public" && (!isShared || strings.Contains(shared, "/") || shared == "") {
		return "", false
	}
	full = "scopes/" + scope + "/" + name
	if !fs.ValidPath(full) || strings.Contains(full, `\`) || !strings.HasPrefix(name, "sites/") {
		return "", false
	}
	return full, true
}

// ReadStored reads a file by its path from the storage root, wherever the maps
// of the library come from; fs.ErrNotExist when none of them has it. Unlike
// ReadFile it checks the rights of no map: the caller must.
func (l *Library) ReadStored(full string, max int64) ([]byte, error) {
	err := error(fs.ErrNotExist)
	for _, m := range l.Maps() {
		if m.companions == nil {
			continue
		}
		var data []byte
		data, err = m.companions.read(full, max)
		if err == nil {
			return data, nil
		}
	}
	return nil, err
}
