package plan

import (
	"archive/zip"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
)

const (
	// maxHAR bounds a HAR file, which can have the bodies of a whole visit.
	maxHAR = 64 << 20
	// maxBodies bounds what is read of bodies that lie beside it or in a zip, together.
	maxBodies = 256 << 20
	// maxFiles bounds the files of a zip.
	maxFiles = 20_000
)

// harSource is where the attached bodies of a HAR file are.
type harSource interface {
	Read(name string) ([]byte, error)
	Close() error
}

// openHAR opens a HAR file or a zip that has one, and returns the text of the HAR file.
func openHAR(name string) (harSource, []byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, fault.New(fault.InvalidInput, "%v", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil, fault.New(fault.InvalidInput, "%s is no file", name)
	}
	if info.Size() > maxHAR {
		return nil, nil, fault.New(fault.InvalidInput, "%s has more than %d MiB", name, maxHAR>>20)
	}
	begin := make([]byte, 4)
	n, _ := f.ReadAt(begin, 0)
	if string(begin[:n]) == "PK\x03\x04" {
		return openHARArchive(name)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxHAR))
	if err != nil {
		return nil, nil, fault.New(fault.InvalidInput, "%s: %v", name, err)
	}
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return nil, nil, fault.New(fault.InvalidInput, "%v", err)
	}
	return &harFolder{root: root, left: maxBodies}, text, nil
}

// harFolder reads bodies that lie beside a HAR file. No link leads out of its folder.
type harFolder struct {
	root *os.Root
	left int64
}

func (b *harFolder) Close() error { return b.root.Close() }

func (b *harFolder) Read(name string) ([]byte, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, fault.New(fault.InvalidInput, "%q is not below the folder of the HAR file", fault.Clip(name, 200))
	}
	info, err := b.root.Stat(filepath.FromSlash(name))
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no file")
	}
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "%q: %v", fault.Clip(name, 200), withoutFileName(err))
	}
	f, err := b.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "%q: %v", fault.Clip(name, 200), withoutFileName(err))
	}
	defer f.Close()
	return readBounded(f, &b.left)
}

func withoutFileName(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// readBounded reads a body. All of them together have a bound, in bytes that are read and not
// in those that a file says of itself.
func readBounded(r io.Reader, left *int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, *left+1))
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "%v", err)
	}
	*left -= int64(len(body))
	if *left < 0 {
		return nil, fault.New(fault.InvalidInput, "the bodies have more than %d MiB together", maxBodies>>20)
	}
	return body, nil
}

// harArchive reads what a zip holds.
type harArchive struct {
	file  *zip.ReadCloser
	names map[string]*zip.File
	left  int64
}

func openHARArchive(name string) (harSource, []byte, error) {
	file, err := zip.OpenReader(name)
	if err != nil {
		return nil, nil, fault.New(fault.InvalidInput, "%s is no zip: %v", name, err)
	}
	z := &harArchive{file: file, names: map[string]*zip.File{}, left: maxBodies}
	text, err := z.document()
	if err != nil {
		_ = file.Close()
		return nil, nil, fault.New(fault.InvalidInput, "%s: %s", name, fault.From(err).Message)
	}
	return z, text, nil
}

// document is the HAR file in the zip.
func (z *harArchive) document() ([]byte, error) {
	if len(z.file.File) > maxFiles {
		return nil, fault.New(fault.InvalidInput, "the zip has more than %d files", maxFiles)
	}
	main := ""
	for _, f := range z.file.File {
		clean := path.Clean(f.Name)
		z.names[clean] = f
		if strings.HasSuffix(clean, ".har") && (main == "" || strings.Count(clean, "/") < strings.Count(main, "/")) {
			main = clean
		}
	}
	if main == "" {
		return nil, fault.New(fault.InvalidInput, "the zip has no .har file")
	}
	left := int64(maxHAR)
	return z.read(main, &left)
}

func (z *harArchive) Close() error { return z.file.Close() }

func (z *harArchive) Read(name string) ([]byte, error) { return z.read(path.Clean(name), &z.left) }

func (z *harArchive) read(name string, left *int64) ([]byte, error) {
	f := z.names[name]
	if f == nil {
		return nil, fault.New(fault.InvalidInput, "the zip has no file %q", fault.Clip(name, 200))
	}
	r, err := f.Open()
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "%q: %v", fault.Clip(name, 200), err)
	}
	defer r.Close()
	return readBounded(r, left)
}
