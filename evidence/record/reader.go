package record

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/outrider-run/outrider/evidence/outfile"
	"github.com/outrider-run/outrider/primitives/fault"
)

const (
	// maxLine bounds a line of a recording.
	maxLine = 64 << 20
	// maxContent bounds a resource, unpacked.
	maxContent = 256 << 20
)

// Recording is a recording that was read. Its resources are read from the file when they are wanted.
type Recording struct {
	Header Header
	Events []Event
	// Cut: the recording does not end with its last event, because what wrote it was ended.
	Cut bool

	f         *os.File
	resources map[string]place
}

type place struct {
	Resource
	at int64
}

// Open reads a recording up to the last entry that is whole. Its errors are invalid_arguments: the file is
// not there, is no recording, or has a version that this reader does not know.
func Open(path string) (*Recording, error) {
	f, err := outfile.Open(path)
	if err != nil {
		return nil, fault.Wrap(fault.InvalidInput, err, "the recording cannot be read")
	}
	r := &Recording{f: f, resources: map[string]place{}, Cut: true}
	if err := r.scan(); err != nil {
		_ = f.Close()
		return nil, err
	}
	return r, nil
}

// Close closes the file.
func (r *Recording) Close() error { return r.f.Close() }

func (r *Recording) scan() error {
	info, err := r.f.Stat()
	if err != nil {
		return fault.Wrap(fault.InvalidInput, err, "the recording cannot be read")
	}
	in := bufio.NewReaderSize(r.f, 256<<10)
	at := int64(0)
	for {
		line, err := readLine(in)
		if err != nil {
			break // the end, or a line that was cut
		}
		at += int64(len(line)) + 1
		if bytes.HasPrefix(line, []byte(`{"resource":`)) {
			var res Resource
			if json.Unmarshal(line, &res) != nil || !possible(res, info.Size()-at-1) {
				break
			}
			r.resources[res.Name] = place{res, at}
			if err := skip(in, r.f, &at, int64(res.Stored)+1); err != nil {
				break
			}
			continue
		}
		var e Event
		if json.Unmarshal(line, &e) != nil || e.Kind == "" {
			break
		}
		if len(r.Events) == 0 {
			if err := r.begin(e); err != nil {
				return err
			}
		}
		r.Events = append(r.Events, e)
		r.Cut = e.Kind != KindEnd
	}
	if len(r.Events) == 0 {
		return fault.New(fault.InvalidInput, "this is no recording: expected a first line with the format %s", Format)
	}
	slices.SortStableFunc(r.Events, func(a, b Event) int { return cmp.Compare(a.Seq, b.Seq) })
	return nil
}

// possible reports whether a resource can be what its line says, with so many bytes behind the line.
func possible(r Resource, left int64) bool {
	if r.Stored < 0 || r.Size < 0 || r.Size > maxContent || int64(r.Stored) > left {
		return false
	}
	return r.Coding == "gzip" || r.Size == r.Stored
}

// readLine reads a line without its end.
func readLine(in *bufio.Reader) ([]byte, error) {
	var whole []byte
	for {
		part, err := in.ReadSlice('\n')
		switch {
		case err == nil && whole == nil:
			return bytes.Clone(part[:len(part)-1]), nil
		case err == nil:
			return append(whole, part[:len(part)-1]...), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
		whole = append(whole, part...)
		if len(whole) > maxLine {
			return nil, errors.New("the line is too long")
		}
	}
}

// skip goes on by n bytes without reading what is not in the buffer.
func skip(in *bufio.Reader, f *os.File, at *int64, n int64) error {
	*at += n
	if buffered := int64(in.Buffered()); n > buffered {
		if _, err := f.Seek(*at, io.SeekStart); err != nil {
			return err
		}
		in.Reset(f)
		return nil
	}
	_, err := in.Discard(int(n))
	return err
}

func (r *Recording) begin(e Event) error {
	if e.Kind == KindRecording && json.Unmarshal(e.Data, &r.Header) == nil && r.Header.Format == Format {
		if r.Header.Version > Version {
			return fault.New(
				fault.InvalidInput,
				"the recording has version %d, and this program reads up to %d", r.Header.Version, Version,
			).Next("read it with the program that wrote it: " + fault.Clip(r.Header.Program, 80))
		}
		return nil
	}
	return fault.New(fault.InvalidInput, "this is no recording: expected a first line with the format %s", Format)
}

// Data is the content of a resource; target_not_found when the recording does not have it.
func (r *Recording) Data(name string) ([]byte, error) {
	p, ok := r.resources[name]
	if !ok {
		return nil, fault.New(fault.TargetNotFound, "the recording has no resource of this name").
			With("resource", fault.Clip(name, 80))
	}
	p.data = make([]byte, p.Stored)
	if _, err := r.f.ReadAt(p.data, p.at); err != nil {
		return nil, fault.Wrap(fault.InvalidInput, err, "reading a resource of the recording")
	}
	return p.content()
}

// CopyTo writes the content of a resource, as Data has it. What is written is not all of it when there is an
// error.
func (r *Recording) CopyTo(to io.Writer, name string) error {
	p, ok := r.resources[name]
	if !ok {
		return fault.New(fault.TargetNotFound, "the recording has no resource of this name").
			With("resource", fault.Clip(name, 80))
	}
	var from io.Reader = io.NewSectionReader(r.f, p.at, int64(p.Stored))
	if p.Coding == "gzip" {
		z, err := gzip.NewReader(from)
		if err != nil {
			return fault.Wrap(fault.InvalidInput, err, "unpacking a resource of the recording")
		}
		from = z
	}
	n, err := io.Copy(to, io.LimitReader(from, int64(p.Size)+1))
	if err != nil || n != int64(p.Size) {
		return fault.Wrap(
			fault.InvalidInput, err, "unpacking a resource of the recording: expected %d bytes, found %d", p.Size, n,
		)
	}
	return nil
}

// Has reports whether there is a resource of a name.
func (r *Recording) Has(name string) bool {
	_, ok := r.resources[name]
	return ok
}

// Type is the media type of a resource, "" for one that is not there.
func (r *Recording) Type(name string) string { return r.resources[name].Type }

// Size is the number of bytes of a resource.
func (r *Recording) Size(name string) int { return r.resources[name].Size }

func (r Resource) content() ([]byte, error) {
	if r.Coding != "gzip" {
		return r.data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(r.data))
	if err != nil {
		return nil, fault.Wrap(fault.InvalidInput, err, "unpacking a resource of the recording")
	}
	out, err := io.ReadAll(io.LimitReader(z, int64(r.Size)+1))
	if err != nil || len(out) != r.Size {
		return nil, fault.Wrap(
			fault.InvalidInput, err, "unpacking a resource of the recording: expected %d bytes, found %d",
			r.Size, len(out),
		)
	}
	return out, nil
}

// byNumber sorts in the order in which events were numbered.
func byNumber(all []kept) {
	slices.SortFunc(all, func(a, b kept) int { return cmp.Compare(a.event.Seq, b.event.Seq) })
}
