package capture

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync"

	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/internal/mask"
)

// secrets are what must not be in a recording: what was declared, and what was typed into fields that hide
// what they hold.
type secrets struct {
	declared *mask.Set

	mu      sync.Mutex
	learned mask.Set
	names   map[string]string // of what was learned, by value
	field   string            // that keys went into last
	keys    string            // that went into it
}

var notInNames = lazyregexp.New(`[^A-Za-z0-9_.-]+`)

// learn makes a text a secret and returns its placeholder. A text that is a placeholder already stays one.
func (s *secrets) learn(field, text string) string {
	if len(mask.Used(text)) > 0 {
		return text
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if name, known := s.names[text]; known {
		return mask.Placeholder(name)
	}
	base := strings.Trim(notInNames().ReplaceAllString(field, "_"), "_.-")
	if base == "" || base[0] >= '0' && base[0] <= '9' {
		base = "password"
	}
	base = base[:min(len(base), 50)]
	name := base
	taken := map[string]bool{}
	for _, n := range s.names {
		taken[n] = true
	}
	for n := 2; taken[name]; n++ {
		name = base + "_" + strconv.Itoa(n)
	}
	if s.names == nil {
		s.names = map[string]string{}
	}
	s.names[text] = name
	// One that is too short to be told from other text is masked where it was typed only.
	_ = s.learned.Add(name, text)
	return mask.Placeholder(name)
}

// key makes what keys have typed into a field, one after the other, a secret. The placeholder says
// nothing about the key.
func (s *secrets) key(field, key string) string {
	s.mu.Lock()
	if s.field != field {
		s.field, s.keys = field, ""
	}
	s.keys += key
	typed := s.keys
	s.mu.Unlock()
	s.learn(field, typed)
	return mask.Placeholder("key")
}

// mask takes the secrets out of text or JSON.
func (s *secrets) mask(data []byte) []byte {
	if s.declared.Empty() && s.learned.Empty() {
		return data
	}
	if json.Valid(data) {
		return s.learned.MaskJSON(s.declared.MaskJSON(data))
	}
	return s.learned.MaskBytes(s.declared.MaskBytes(data))
}

// strings masks the strings alone of an event.
func (s *secrets) strings(data []byte) []byte {
	return s.learned.MaskStrings(s.declared.MaskStrings(data))
}
