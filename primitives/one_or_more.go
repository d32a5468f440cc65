package primitives

import (
	"bytes"
	"encoding/json"
)

// oneOrMore is a list, or a single value that stands for a list of one; nil when
// nothing was given.
type oneOrMore[T any] []T

func (l *oneOrMore[T]) UnmarshalJSON(b []byte) error {
	if b = bytes.TrimSpace(b); len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, (*[]T)(l))
	}
	var one T
	if err := json.Unmarshal(b, &one); err != nil {
		return err
	}
	*l = oneOrMore[T]{one}
	return nil
}
