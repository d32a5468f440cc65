package arguments

import (
	"bytes"
	"encoding/json"
)

// OneOrMore is a list, or a single value that stands for a list of one; nil when
// nothing was given.
type OneOrMore[T any] []T

func (l *OneOrMore[T]) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	if len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, (*[]T)(l))
	}
	var one T
	if err := json.Unmarshal(b, &one); err != nil {
		return err
	}
	*l = OneOrMore[T]{one}
	return nil
}
