package remote

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Bounds of what a job carries. They are checked when it is packed and again when it
// is unpacked, since a worker does not trust who sent it.
const (
	maxFiles = 10_000
	maxBytes = 128 << 20
)

// pack writes files and folders into one archive: each under its key, which is a
// local path. The same contents make the same archive, so jobs that share their maps
// share it too.
type packer struct {
	out   bytes.Buffer
	zip   *gzip.Writer
	tar   *tar.Writer
	files int
	bytes int64
}

func newPacker() *packer {
	p := &packer{}
	p.zip = gzip.NewWriter(&p.out)
	p.tar = tar.NewWriter(p.zip)
	return p
}

func (p *packer) file(name string, data []byte) error {
	p.files++
	p.bytes += int64(len(data))
	if p.files > maxFiles || p.bytes > maxBytes {
		return fault.New(
			fault.PayloadTooLarge, "the plan and its maps are more than %d files or %d MiB", maxFiles, maxBytes>>20,
		).Next("name the maps that the plan needs, instead of a folder with more")
	}
	if err := p.tar.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg,
		Name:     name,
		Mode:     0o644,
		Size:     int64(len(data)),
	}); err != nil {
		return err
	}
	_, err := p.tar.Write(data)
	return err
}

// folder adds the regular files below a folder. Hidden ones are left out: they are
// repositories and caches.
func (p *packer) folder(name, dir string) error {
	return filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(d.Name(), ".") && at != dir
		switch {
		case d.IsDir() && (hidden || d.Name() == "node_modules"):
			return fs.SkipDir
		case hidden || !d.Type().IsRegular():
			return nil
		}
		inside, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		return p.file(path.Join(name, filepath.ToSlash(inside)), data)
	})
}

// maps adds what --maps names: a folder, or a file with the folder that it is in. It
// returns where each will be. project are those that a project file names.
func (p *packer) maps(paths, project []string) ([]Mapped, error) {
	var out []Mapped
	for i, given := range paths {
		root, inside, err := storageOf(given)
		if err != nil {
			return nil, fault.New(fault.InvalidInput, "--maps: %v", err)
		}
		// What agents are shown of a file's path is its end, which must be like no other text.
		name := "outrider-map-" + strconv.Itoa(i)
		if err := p.folder(name, root); err != nil {
			return nil, err
		}
		out = append(out, Mapped{Given: given, At: path.Join(name, inside), Project: slices.Contains(project, given)})
	}
	return out, nil
}

// storageOf is the folder to pack for a path of --maps, and where in it the path
// leads. A map below a folder with scopes keeps its scope, so that folder goes along.
func storageOf(given string) (root, inside string, err error) {
	info, err := os.Stat(given)
	if err != nil {
		return "", "", err
	}
	if info.IsDir() {
		return given, ".", nil
	}
	full, err := filepath.Abs(given)
	if err != nil {
		return "", "", err
	}
	root, inside = filepath.Dir(full), filepath.Base(full)
	slashed := filepath.ToSlash(full)
	if i := strings.LastIndex(slashed, "/scopes/"); i > 0 {
		root, inside = filepath.FromSlash(slashed[:i]), slashed[i+1:]
	}
	return root, inside, nil
}

func (p *packer) close() ([]byte, error) {
	if err := errors.Join(p.tar.Close(), p.zip.Close()); err != nil {
		return nil, err
	}
	return p.out.Bytes(), nil
}

// upload ends the archive and puts it into a fleet.
func (p *packer) upload(ctx context.Context, q *queue.Queue) (*fleet.Object, error) {
	data, err := p.close()
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "packing the job's files")
	}
	at, err := q.Upload(ctx, data)
	return &at, err
}

// unpack writes an archive into a folder, from which nothing in it leads out.
func unpack(dir string, archive []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return fault.New(fault.InvalidInput, "the job's files are not an archive: %v", err)
	}
	in := tar.NewReader(io.LimitReader(unzipped, maxBytes+maxFiles*1024))
	left := int64(maxBytes)
	for files := 0; ; files++ {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fault.New(fault.InvalidInput, "the job's files cannot be read: %v", err)
		}
		if files == maxFiles || h.Typeflag != tar.TypeReg || !filepath.IsLocal(h.Name) {
			return fault.New(
				fault.UnsafePath, "the job's archive has the entry %q: expected at most %d files below its own folder",
				h.Name, maxFiles,
			)
		}
		if sparse(h) {
			return fault.New(
				fault.UnsafePath,
				"the job's archive has the entry %q, which is larger than what the archive holds of it",
				h.Name,
			)
		}
		left -= h.Size
		if h.Size < 0 || left < 0 {
			return tooLarge()
		}
		if err := root.MkdirAll(path.Dir(h.Name), 0o755); err != nil {
			return err
		}
		if err := write(root, h.Name, in, h.Size); err != nil {
			return err
		}
	}
}

// sparse reports whether an entry has holes, which a reader fills with as many zeros as the
// entry says: some bytes become any number. Nothing that packs a job writes one.
func sparse(h *tar.Header) bool {
	if h.Typeflag == tar.TypeGNUSparse {
		return true
	}
	for name := range h.PAXRecords {
		if strings.HasPrefix(name, "GNU.sparse.") {
			return true
		}
	}
	return false
}

func tooLarge() error {
	return fault.New(fault.PayloadTooLarge, "the job's files are more than %d MiB", maxBytes>>20)
}

// write writes one file, which has so many bytes.
func write(root *os.Root, name string, from io.Reader, size int64) error {
	f, err := root.Create(name)
	if err != nil {
		return err
	}
	copied, err := io.Copy(f, io.LimitReader(from, size))
	if err == nil && copied < size {
		err = fault.New(fault.InvalidInput, "the job's file %q ends before its %d bytes", name, size)
	}
	return errors.Join(err, f.Close())
}
