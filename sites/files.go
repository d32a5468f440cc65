package sites

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites/location"
	"github.com/outrider-run/outrider/sites/manifest"
)

// companions reads the files beside maps. Paths are relative to the storage
// root, with / separators and without . and .. parts.
type companions interface {
	// size returns the size of a regular file.
	size(path string) (int64, error)
	// read returns at most max bytes from the start of a regular file.
	read(path string, max int64) ([]byte, error)
}

// folderFiles reads below a folder and follows no link out of it.
type folderFiles string

func (f folderFiles) open(name string) (*os.Root, *os.File, fs.FileInfo, error) {
	root, err := os.OpenRoot(string(f))
	if err != nil {
		return nil, nil, nil, err
	}
	file, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		root.Close()
		return nil, nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		file.Close()
		root.Close()
		return nil, nil, nil, err
	}
	return root, file, info, nil
}

func (f folderFiles) size(name string) (int64, error) {
	root, file, info, err := f.open(name)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	defer file.Close()
	return info.Size(), nil
}

func (f folderFiles) read(name string, max int64) ([]byte, error) {
	root, file, _, err := f.open(name)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, max))
}

// embeddedFiles reads what a program brought along.
type embeddedFiles struct{ fs.FS }

func (f *embeddedFiles) size(name string) (int64, error) {
	info, err := fs.Stat(f.FS, name)
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, errors.New("not a regular file")
	}
	return info.Size(), nil
}

func (f *embeddedFiles) read(name string, max int64) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, max))
}

// resolve returns the storage path of a declared file, or "" when the map may
// not read it: a public map reaches public files only, a shared one those of
// its own audience too. Otherwise a map that somebody else wrote could publish
// private files by declaring them.
func (m *Map) resolve(f *manifest.File) string {
	if !strings.HasPrefix(f.Path, "scopes/") {
		return path.Join(m.dir, f.Path)
	}
	allowed := func(prefix string) bool { return strings.HasPrefix(f.Path, prefix) }
	switch m.Location.Scope {
	case location.Public:
		if !allowed("scopes/public/") {
			return ""
		}
	case location.Shared:
		if !allowed("scopes/public/") && !allowed("scopes/shared/"+m.Location.Audience+"/") {
			return ""
		}
	}
	return f.Path
}

func (m *Map) missingFiles() []manifest.Problem {
	var out []manifest.Problem
	for i := range m.Manifest.Files {
		f := &m.Manifest.Files[i]
		p := manifest.Problem{Pointer: fmt.Sprintf("/x_actions/files/%d/path", i)}
		switch full := m.resolve(f); full {
		case "":
			p.Code = fault.PermissionDenied
			p.Message = "the file belongs to another scope than the map; it is not offered"
		default:
			if _, err := m.companions.size(full); err == nil {
				continue
			}
			p.Code, p.Message = fault.UnknownReference, "the declared file cannot be read; it is not offered"
		}
		out = append(out, p)
	}
	return out
}

// Limits of reading a companion file, in bytes.
const (
	DefaultFileBytes = 64_000
	MaxFileBytes     = 256_000
	maxFrontMatter   = 16 << 10
)

// FileContent is a declared file as storage.read_file answers it.
type FileContent struct {
	Path         string            `json:"path"`
	RelativePath string            `json:"relative_path"`
	ID           *string           `json:"id"`
	Kind         string            `json:"kind"`
	MIMEType     string            `json:"mime_type"`
	Bytes        int64             `json:"bytes"` // of the whole file
	Truncated    bool              `json:"truncated"`
	FrontMatter  map[string]string `json:"front_matter"`
	Text         string            `json:"text"`
}

// ReadFile reads a file that a map of the page declares, by exactly one of its
// id and its path (from the storage root, or as declared). maxBytes 0 means
// DefaultFileBytes.
func (l *Library) ReadFile(pageURL, id, name string, maxBytes int) (*FileContent, *fault.Error) {
	return l.ReadFileFor(nil, pageURL, id, name, maxBytes)
}

// ReadFileFor is ReadFile on behalf of a map, which does not see what maps of
// other scopes declare: see Map.ReachesStored. nil is an agent.
func (l *Library) ReadFileFor(from *Map, pageURL, id, name string, maxBytes int) (*FileContent, *fault.Error) {
	if (id == "") == (name == "") {
		return nil, fault.New(fault.InvalidInput, "exactly one of id and path names the file")
	}
	if maxBytes == 0 {
		maxBytes = DefaultFileBytes
	}
	if maxBytes < 1 || maxBytes > MaxFileBytes {
		return nil, fault.New(fault.InvalidInput, "max_bytes must be from 1 to %d", MaxFileBytes)
	}
	type hit struct {
		m *Map
		f *manifest.File
	}
	var found []hit
	byPath := map[string]bool{}
	for _, m := range l.For(pageURL) {
		if m.companions == nil || !from.reachesMap(m) {
			continue
		}
		for i := range m.Manifest.Files {
			f := &m.Manifest.Files[i]
			full := m.resolve(f)
			if full == "" {
				continue
			}
			if id != "" && f.ID == id || name != "" && (full == name || f.Path == name) {
				if !byPath[full] {
					byPath[full] = true
					found = append(found, hit{m, f})
				}
			}
		}
	}
	switch len(found) {
	case 0:
		return nil, fault.New(fault.StorageFileNotFound, "no map of this page declares the file").
			With("id", shown(id)).With("path", shown(name))
	case 1:
	default:
		var paths []string
		for _, h := range found {
			paths = append(paths, h.m.resolve(h.f))
		}
		return nil, fault.New(fault.StorageFileAmbiguousID, "%d declared files are meant", len(found)).
			With("paths", paths)
	}
	m, f := found[0].m, found[0].f
	full := m.resolve(f)
	size, err := m.companions.size(full)
	var data []byte
	if err == nil {
		data, err = m.companions.read(full, int64(max(maxBytes, maxFrontMatter)))
	}
	if err != nil {
		code := fault.StorageFileReadFailed
		if errors.Is(err, fs.ErrNotExist) {
			code = fault.StorageFileNotFound
		}
		return nil, &fault.Error{
			Code:     code,
			Message:  "the declared file cannot be read",
			Err:      err,
			Evidence: map[string]any{"path": full},
		}
	}
	content := &FileContent{
		Path:         full,
		RelativePath: f.Path,
		ID:           optional(f.ID),
		Kind:         f.Kind,
		MIMEType:     "text/plain",
		Bytes:        size,
		FrontMatter:  frontMatter(data),
		Truncated:    size > int64(maxBytes),
	}
	if strings.EqualFold(path.Ext(full), ".md") {
		content.MIMEType = "text/markdown"
	}
	data = data[:min(len(data), maxBytes)]
	if content.Truncated {
		data = wholeRunes(data)
	}
	if !utf8.Valid(data) {
		return nil, fault.New(fault.StorageFileReadFailed, "the declared file is not text").With("path", full)
	}
	content.Text = string(data)
	return content, nil
}

// wholeRunes drops a character that was cut at the end.
func wholeRunes(b []byte) []byte {
	for i := 1; i <= utf8.UTFMax && i <= len(b); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

// frontMatter reads the flat key: value lines of a leading --- block. It is
// never nil.
func frontMatter(text []byte) map[string]string {
	out := map[string]string{}
	s := strings.ReplaceAll(string(text[:min(len(text), maxFrontMatter)]), "\r\n", "\n")
	s, ok := strings.CutPrefix(s, "---\n")
	if !ok {
		return out
	}
	block, _, ok := strings.Cut("\n"+s, "\n---")
	if !ok {
		return out
	}
	for line := range strings.SplitSeq(block, "\n") {
		key, value, ok := strings.Cut(line, ":")
		if !ok || key == "" ||
			strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") != "" {
			continue
		}
		value = strings.TrimSpace(value)
		if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			value = value[1 : n-1]
		}
		out[key] = value
	}
	return out
}

func isSkill(f *manifest.File, full string) bool {
	return f.Kind == "skill" || strings.EqualFold(path.Base(full), "SKILL.md")
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
