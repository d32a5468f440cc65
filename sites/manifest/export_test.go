package manifest

import "encoding/json"

// ParseTraced is Parse that tells which members each object was asked for.
func ParseTraced(data []byte, trace func(pointer string, known []string)) (*Manifest, Report) {
	return Parse(data, Options{trace: trace})
}

// Plain tells tests which schemas are compiled at their first use.
func Plain(raw json.RawMessage) bool {
	s := &scanner{src: raw}
	n, err := s.document()
	return err == nil && plain(raw, n)
}

// KnownWords are the words of an attachment that mean something, by field.
var KnownWords = map[string][]string{
	"install":   installWords,
	"remove":    removeWords,
	"reattach":  reattachWords,
	"drift":     driftWords,
	"placement": placements,
}
