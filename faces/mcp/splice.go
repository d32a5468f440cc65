package mcp

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A large answer goes through the SDK as two short marks, and is put in their places in
// the line that goes out. Each layer of the SDK would read and copy it once more, which
// costs more than all else that is done for the answer.

const (
	spliceFrom = 16 << 10 // bytes of an answer
	mostParts  = 64       // that wait; answers that nobody waits for are never written
)

// splicer writes lines of JSON, with prepared parts in the places of their marks.
type splicer struct {
	out io.Writer

	mu    sync.Mutex
	mark  string // no text of a page or a client has it
	given int
	parts map[string][]byte
}

func newSplicer(out io.Writer) *splicer {
	return &splicer{out: out, mark: "outrider:" + rand.Text() + ":", parts: map[string][]byte{}}
}

// hold keeps JSON that goes out later, and returns what stands for it: a string.
func (s *splicer) hold(part []byte) string {
	s.given++
	mark := s.mark + strconv.Itoa(s.given)
	s.parts[mark] = part
	return mark
}

// splice prepares an answer: its text and, when it is encoded, its structured content.
func (s *splicer) splice(r *sdk.CallToolResult) {
	structured, encoded := r.StructuredContent.(json.RawMessage)
	var text *sdk.TextContent
	if len(r.Content) > 0 {
		text, _ = r.Content[0].(*sdk.TextContent)
	}
	if !encoded || text == nil || len(structured)+len(text.Text) < spliceFrom {
		return
	}
	quoted, err := quotedText(text.Text)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.parts) >= mostParts {
		return
	}
	r.Content[0] = &sdk.TextContent{Text: s.hold(quoted), Annotations: text.Annotations, Meta: text.Meta}
	r.StructuredContent = s.hold(structured)
}

// Write implements io.Writer for whole lines.
func (s *splicer) Write(line []byte) (int, error) {
	whole := line
	if bytes.Contains(line, []byte(s.mark)) {
		whole = s.fill(line)
	}
	if _, err := s.out.Write(whole); err != nil {
		return 0, err
	}
	return len(line), nil
}

func (s *splicer) fill(line []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []byte
	for {
		before, rest, found := bytes.Cut(line, []byte(`"`+s.mark))
		digits, after, closed := bytes.Cut(rest, []byte(`"`))
		part, held := s.parts[s.mark+string(digits)]
		if !found || !closed || !held {
			return append(out, line...)
		}
		delete(s.parts, s.mark+string(digits))
		out = slices.Grow(out, len(before)+len(part)+len(after))
		out = append(append(out, before...), part...)
		line = after
	}
}

// Close implements io.Closer. What is written to stays open.
func (*splicer) Close() error { return nil }

// quotedText is text as a JSON string, with nothing escaped that need not be.
func quotedText(text string) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(len(text) + len(text)/4)
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(text)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
