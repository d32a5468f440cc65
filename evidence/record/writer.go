package record

import (
	"bufio"
	"errors"
	"io"
	"sync"

	"github.com/outrider-run/outrider/evidence/outfile"
	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives/fault"
)

// File is a sink that writes a recording. Each entry is handed to the system when it is whole, so what
// was written stays when the process is killed.
type File struct {
	mu   sync.Mutex
	f    io.Closer
	w    *bufio.Writer
	have map[string]bool
}

// Create makes a new file, in place of one of that name that no other program writes.
func Create(path string) (*File, error) {
	f, err := outfile.Claim(path, 0o600)
	if errors.Is(err, outfile.ErrHeld) {
		return nil, fault.Wrap(
			fault.InvalidInput, err, "the recording %s is written by another program: expected another file", path,
		)
	}
	if err != nil {
		return nil, fault.Wrap(fault.InvalidInput, err, "the recording %s cannot be written", path)
	}
	return NewFile(f), nil
}

// NewFile writes a recording to w.
func NewFile(w io.WriteCloser) *File {
	return &File{f: w, w: bufio.NewWriterSize(w, 64<<10), have: map[string]bool{}}
}

// Has implements Sink.
func (f *File) Has(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.have[name]
}

// Resource implements Sink.
func (f *File) Resource(r Resource) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.have[r.Name] {
		return nil
	}
	f.have[r.Name] = true
	head, err := jsonout.Line(r)
	if err != nil {
		return err
	}
	_, _ = f.w.Write(append(head, '\n')) // Flush returns the error
	_, _ = f.w.Write(r.data)
	_ = f.w.WriteByte('\n')
	return f.w.Flush()
}

// Event implements Sink.
func (f *File) Event(_ Event, line []byte, _ []string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, _ = f.w.Write(line) // Flush returns the error
	_ = f.w.WriteByte('\n')
	return f.w.Flush()
}

// Close closes the file.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.f.Close()
}
