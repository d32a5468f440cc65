package manifest

import "encoding/json"

// Plain tells tests which schemas are compiled at their first use.
func Plain(raw json.RawMessage) bool {
	s := &scanner{src: raw}
	n, err := s.document()
	return err == nil && plain(raw, n)
}
