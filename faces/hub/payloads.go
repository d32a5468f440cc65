package hub

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"unicode/utf8"

	"github.com/outrider-run/outrider/primitives/fault"
)

// payloads writes long results of agents to files, so that a model reads a
// preview and a path (wire reference, "Spill").
type payloads struct {
	folder string
	limit  int // default

	mu      sync.Mutex
	current int
	written []string
}

// previewLength is how much of a spilled result is shown, in characters.
const previewLength = 800

// spilled is the answer that an agent gets instead.
type spilled struct {
	Spilled     bool   `json:"payload_spilled"`
	Tool        string `json:"tool"`
	OK          bool   `json:"ok"`
	Bytes       int    `json:"payload_bytes"`
	InlineLimit int    `json:"inline_limit_bytes"`
	Path        string `json:"payload_path"`
	Hash        string `json:"payload_hash"`
	Preview     string `json:"preview"`
	Hint        string `json:"hint"`
}

var configurePayloads = Tool{
	"bridge.payloads.configure", "Say or set from how many bytes on a result goes to a file; null is the default.",
	json.RawMessage(`{"type":"object","properties":{"inline_limit_bytes":{"type":["integer","null"],"minimum":1}},` +
		`"additionalProperties":false}`),
}

var unsafeName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// Spill writes a long output to a file and puts a description of it in its place.
// Pictures stay, and so does everything without Options.PayloadFolder.
func (h *Hub) Spill(tool string, r ToolResult) ToolResult {
	p := h.payloads
	if p == nil || bytes.Contains(r.Output, []byte(`"data:image/`)) {
		return r
	}
	p.mu.Lock()
	limit := p.current
	p.mu.Unlock()
	if len(r.Output) <= limit {
		return r
	}
	var text bytes.Buffer
	if json.Indent(&text, r.Output, "", "  ") != nil {
		return r
	}
	file := filepath.Join(p.folder, h.opts.NewID()+"-"+clip(unsafeName.ReplaceAllString(tool, "_"))+".json")
	if err := p.write(file, text.Bytes()); err != nil {
		h.log.Warn("a long result could not be written", "error", err)
		return r
	}
	r.Output = marshal(spilled{
		Spilled:     true,
		Tool:        tool,
		OK:          r.OK,
		Bytes:       text.Len(),
		InlineLimit: limit,
		Path:        file,
		Hash:        djb2(text.Bytes()),
		Preview:     preview(text.Bytes()),
		Hint:        "read the file, or ask for less: a narrower selector, fewer members, a smaller limit",
	})
	return r
}

func (p *payloads) write(file string, text []byte) error {
	if err := os.MkdirAll(p.folder, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	p.mu.Lock()
	p.written = append(p.written, file)
	p.mu.Unlock()
	return nil
}

// remove deletes the files that were written.
func (p *payloads) remove() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, file := range p.written {
		_ = os.Remove(file)
	}
	p.written = nil
}

func preview(text []byte) string {
	end := 0
	for n := 0; n < previewLength && end < len(text); n++ {
		_, size := utf8.DecodeRune(text[end:])
		end += size
	}
	return string(text[:end])
}

// djb2 is upstream's hash of a payload.
func djb2(text []byte) string {
	h := uint32(5381)
	for _, b := range text {
		h = h*33 ^ uint32(b)
	}
	return fmt.Sprintf("djb2:%08x", h)
}

// setPayloads answers bridge.payloads.configure.
func (h *Hub) setPayloads(args map[string]json.RawMessage, _ Selector) (any, *fault.Error) {
	if err := only(args, "inline_limit_bytes"); err != nil {
		return nil, err
	}
	p := h.payloads
	p.mu.Lock()
	defer p.mu.Unlock()
	if raw, ok := args["inline_limit_bytes"]; ok {
		var limit *int
		if json.Unmarshal(raw, &limit) != nil || limit != nil && *limit < 1 {
			return nil, fault.New(fault.InvalidInput, "inline_limit_bytes is not a whole number from 1 on").
				With("path", "/arguments/inline_limit_bytes")
		}
		p.current = p.limit
		if limit != nil {
			p.current = *limit
		}
	}
	return map[string]any{
		"ok":                         true,
		"inline_limit_bytes":         p.current,
		"default_inline_limit_bytes": p.limit,
		"payload_dir":                p.folder,
	}, nil
}
