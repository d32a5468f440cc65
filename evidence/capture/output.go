package capture

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/internal/lazyregexp"
)

const (
	// maxInline bounds an output in an event; a larger one is a resource.
	maxInline = 64 << 10
	// leastPicture is how long base64 is that is taken for a picture.
	leastPicture = 4096
)

var inBase64 = lazyregexp.New(`^(?:data:[\w/+.-]+;base64,)?[A-Za-z0-9+/\r\n]+=*$`)

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
			if len(v) >= leastPicture && inBase64().MatchString(v) {
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
		put := func(path, name string, imported bool) (data []byte) {
			data, err := os.ReadFile(path)
			if err != nil || len(data) > maxMapSize || files >= maxMapFiles {
				return nil
			}
			files++
			resource := r.log.Keep("application/json", data)
			r.log.Put(
				record.KindMap, 0,
				record.Map{Root: i, Folder: info.IsDir(), Import: imported, Path: name, Resource: resource}, resource,
			)
			return data
		}
		if !info.IsDir() {
			for list, n := []string{filepath.Base(root)}, 0; n < len(list); n++ {
				for _, name := range localImports(
					put(filepath.Join(filepath.Dir(root), filepath.FromSlash(list[n])), list[n], n > 0),
				) {
					name = path.Join(path.Dir(list[n]), name)
					if !slices.Contains(list, name) && filepath.IsLocal(filepath.FromSlash(name)) {
						list = append(list, name)
					}
				}
			}
			continue
		}
		_ = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil //nolint:nilerr // what cannot be read is no map on offer
			}
			if rel, err := filepath.Rel(root, file); err == nil {
				put(file, filepath.ToSlash(rel), false)
			}
			return nil
		})
	}
}

// localImports are the files that a map imports from beside it.
func localImports(data []byte) []string {
	var m struct {
		Imports []struct {
			URI string `json:"uri"`
		} `json:"imports"`
	}
	_ = json.Unmarshal(data, &m) // none without
	var out []string
	for _, i := range m.Imports {
		if i.URI != "" && !strings.Contains(i.URI, ":") {
			out = append(out, i.URI)
		}
	}
	return out
}
