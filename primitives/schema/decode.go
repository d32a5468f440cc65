package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
)

var (
	errNotJSON  = errors.New("is not JSON")
	errTrailing = errors.New("has text after its end")
	errDeep     = errors.New("is nested too deeply")
	errNumber   = errors.New("has a number that no double can hold")
)

// parse reads one JSON value and keeps numbers exact. Errors hold no text of
// raw.
func parse(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, errNotJSON
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errTrailing
	}
	return v, nil
}

// inspect refuses what is nested more than depth deep and numbers outside the
// range of a double: the library computes with fractions, and one such number
// can take seconds.
func inspect(v any, depth int) error {
	switch v := v.(type) {
	case json.Number:
		if len(v) > 400 || strings.ContainsAny(string(v), "eE") {
			f, err := v.Float64()
			if err != nil || len(v) > 400 {
				return errNumber
			}
			// 1e-999999999 reads as zero without an error.
			if i := strings.IndexAny(string(v), "eE"); f == 0 && i >= 0 {
				if e, err := strconv.Atoi(string(v[i+1:])); err != nil || e < -400 || e > 400 {
					return errNumber
				}
			}
		}
	case []any:
		if depth == 0 {
			return errDeep
		}
		for _, e := range v {
			if err := inspect(e, depth-1); err != nil {
				return err
			}
		}
	case map[string]any:
		if depth == 0 {
			return errDeep
		}
		for _, e := range v {
			if err := inspect(e, depth-1); err != nil {
				return err
			}
		}
	}
	return nil
}
