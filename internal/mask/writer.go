package mask

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"
)

// Writer masks what is written through it. Bytes that may be the beginning of a secret
// wait for those that follow, so that a secret in two writes is found; Close writes
// what waits. A JSON document that begins a line waits until it is whole, and stays JSON.
type Writer struct {
	set *Set

	mu   sync.Mutex
	w    io.Writer
	part []byte
	// before is the end of what was written: of a short secret it tells whether it is
	// in the middle of a picture.
	before []byte
	inLine bool // something was written since the last line ended
	doc    document
}

// Writer wraps w.
func (s *Set) Writer(w io.Writer) *Writer { return &Writer{set: s, w: w} }

// Unwrap is the writer below.
func (m *Writer) Unwrap() io.Writer { return m.w }

// Written is w for what is masked already: it comes after what waits.
func Written(w io.Writer) io.Writer {
	if m, ok := w.(*Writer); ok {
		return written{m}
	}
	return w
}

type written struct{ m *Writer }

func (w written) Write(p []byte) (int, error) {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	if err := w.m.end(w.m.set.load()); err != nil {
		return 0, err
	}
	return w.m.w.Write(p)
}

// Write implements io.Writer. It says that all was written also of what waits.
func (m *Writer) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	st := m.set.load()
	if st == nil && len(m.part) == 0 && !m.doc.begun() {
		if len(p) > 0 {
			m.inLine = p[len(p)-1] != '\n'
		}
		return m.w.Write(p)
	}
	for rest := p; len(rest) > 0; {
		if m.doc.begun() || !m.inLine && len(m.part) == 0 && opens(rest[0]) {
			n, ended := m.doc.take(rest)
			rest = rest[n:]
			if ended {
				if err := m.document(st); err != nil {
					return 0, err
				}
			}
			continue
		}
		n := bytes.IndexByte(rest, '\n') + 1
		m.inLine = n == 0
		if m.inLine {
			n = len(rest)
		}
		m.part = append(m.part, rest[:n]...)
		if err := m.drain(st, false); err != nil {
			return 0, err
		}
		rest = rest[n:]
	}
	return len(p), nil
}

// document writes what began as one, and may be none.
func (m *Writer) document(st *state) error {
	text := m.doc.text
	m.doc = document{}
	m.inLine = len(text) > 0 && text[len(text)-1] != '\n'
	if st == nil || !json.Valid(text) {
		m.part = append(m.part, text...)
		return m.drain(st, false)
	}
	text = m.set.MaskStrings(text)
	m.before = append(m.before[:0], text[max(0, len(text)-longRun):]...)
	_, err := m.w.Write(text)
	return err
}

// end writes what waits.
func (m *Writer) end(st *state) error {
	var err error
	if m.doc.begun() {
		err = m.document(st)
	}
	return errors.Join(err, m.drain(st, true))
}

// Close writes what waits. It does not close the writer below.
func (m *Writer) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.end(m.set.load())
}

// drain writes what is known to be complete, or all.
func (m *Writer) drain(st *state, all bool) error {
	text := string(m.before) + string(m.part)
	from := len(m.before)
	var out []byte
	i := from
	for i < len(text) && st != nil {
		name, end, more := st.at(text, i)
		if more && !all {
			break
		}
		if end == 0 {
			out = append(out, text[i])
			i++
			continue
		}
		out = append(out, Placeholder(name)...)
		i = end
	}
	if st == nil {
		out, i = append(out, text[i:]...), len(text)
	}
	m.before = append(m.before[:0], text[max(0, i-longRun):i]...)
	m.part = append(m.part[:0], text[i:]...)
	if len(out) == 0 {
		return nil
	}
	_, err := m.w.Write(out)
	return err
}
