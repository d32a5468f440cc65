package capture

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/evidence/record"
)

const (
	// maxInline bounds an output in an event; a larger one is a resource.
	maxInline = 64 << 10
	// leastPicture is how long base64 is that is taken for a picture.
	leastPicture = 4096
)

var inBase64 = regexp.MustCompile(`^(?:data:[\w/+.-]+;base64,)?[A-Za-z0-9+/\r\n]+=*$`)

// output is a result as it is recorded: pictures and files are left out, a large one is a resource.
func (r *Recorder) output(name string, raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	if strings.HasPrefix(name, "cookie.") || strings.HasPrefix(name, "storage_state.") {
		raw = hideValues(raw)
	}
	if len(raw) >= leastPicture {
		raw = withoutPictures(raw)
	}
	if len(raw) <= maxInline {
		return raw
	}
	return jsonOf(map[string]string{"$resource": r.log.Keep("application/json", raw)})
}

// resources are those that an output names.
func resources(output json.RawMessage) []string {
	if name := record.Resourced(output); name != "" {
		return []string{name}
	}
	return nil
}

func withoutPictures(raw json.RawMessage) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return raw
	}
	changed := false
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for k, e := range v {
				v[k] = walk(e)
			}
		case []any:
			for i, e := range v {
				v[i] = walk(e)
			}
		case string:
			if len(v) >= leastPicture && inBase64.MatchString(v) {
				changed = true
				return record.Omitted + strconv.Itoa(len(v)) + " characters of base64]"
			}
		}
		return v
	}
	v = walk(v)
	if !changed {
		return raw
	}
	return jsonOf(v)
}

const (
	maxMapFiles = 2000
	maxMapSize  = 8 << 20
)

// recordMaps records the files of maps, so that a replay has them.
func (r *Recorder) recordMaps(roots []string) {
	files := 0
	for i, root := range roots {
		info, err := os.Stat(root)
		if err != nil {
			continue
		}
		put := func(path, name string) {
			data, err := os.ReadFile(path)
			if err != nil || len(data) > maxMapSize || files >= maxMapFiles {
				return
			}
			files++
			resource := r.log.Keep("application/json", data)
			r.log.Put(record.KindMap, 0, record.Map{Root: i, Folder: info.IsDir(), Path: name, Resource: resource}, resource)
		}
		if !info.IsDir() {
			put(root, filepath.Base(root))
			continue
		}
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil //nolint:nilerr // what cannot be read is no map on offer
			}
			if rel, err := filepath.Rel(root, path); err == nil {
				put(path, filepath.ToSlash(rel))
			}
			return nil
		})
	}
}
