package mask

import (
	"io"
	"sync"
)

// Writer masks what is written through it. Bytes that may be the beginning of a secret
// wait for those that follow, so that a secret in two writes is found; Close writes
// what waits.
type Writer struct {
	set *Set

	mu   sync.Mutex
	w    io.Writer
	part []byte
	// before is the end of what was written: of a short secret it tells whether it is
	// in the middle of a picture.
	before []byte
}

// Writer wraps w.
func (s *Set) Writer(w io.Writer) *Writer { return &Writer{set: s, w: w} }

// Unwrap is the writer below.
func (m *Writer) Unwrap() io.Writer { return m.w }

// Write implements io.Writer. It says that all was written also of what waits.
func (m *Writer) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	st := m.set.load()
	if st == nil && len(m.part) == 0 {
		return m.w.Write(p)
	}
	m.part = append(m.part, p...)
	if err := m.drain(st, false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close writes what waits. It does not close the writer below.
func (m *Writer) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.drain(m.set.load(), true)
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
