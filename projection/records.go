package projection

import (
	"encoding/json"
	"errors"
	"strconv"
)

// The page answers with values only, in the order of the plan: names would be
// most of the text, and a large answer costs by the character on its way here.
// The shapes of the plan say what the values are. inject/maps/extract_plan.js
// describes the list.

type shapeKind uint8

const (
	shapeLeaf   shapeKind = iota // one value
	shapeSingle                  // 1 and a record, or 0 and a value
	shapeList                    // a count and as many records
	shapeTexts                   // a count and as many values
)

// shape is what an extractor or a field gives.
type shape struct {
	kind   shapeKind
	fields []fieldShape
}

type fieldShape struct {
	prefix []byte // what stands before the value: `{"name":` or `,"name":`
	shape
}

// shapeOf reads the shape of an extractor that was checked.
func shapeOf(extractor *value) shape {
	fields := extractor.member("fields")
	if !fields.given() {
		return shape{kind: shapeTexts}
	}
	s := recordShape(shapeList, fields)
	if many := extractor.member("many"); many != nil && many.kind == kindFalse {
		s.kind = shapeSingle
	}
	return s
}

func recordShape(kind shapeKind, fields *value) shape {
	s := shape{kind: kind}
	for i, name := range fields.names {
		lead := byte(',')
		if i == 0 {
			lead = '{'
		}
		s.fields = append(s.fields, fieldShape{
			append(appendString([]byte{lead}, name), ':'), fieldShapeOf(fields.items[i]),
		})
	}
	return s
}

func fieldShapeOf(field *value) shape {
	fields := field.member("fields")
	switch {
	case !fields.given():
		return shape{kind: shapeLeaf}
	case field.member("many").truthy() && (field.member("selector").truthy() || field.member("xpath").truthy()):
		return recordShape(shapeList, fields)
	}
	return recordShape(shapeSingle, fields)
}

var (
	errValues = errors.New("the list of values does not fit the plan")
	errBytes  = errors.New("the records are too large")
)

// valueReader takes the values of an answer one by one and writes records.
type valueReader struct {
	in     []byte
	at     int
	out    []byte
	limits Limits
}

// readRecords makes the result of each extractor. Together they have at most the
// bytes of the limits.
func readRecords(values []byte, shapes []shape, limits Limits) ([]json.RawMessage, error) {
	if len(values) < 2 || values[0] != '[' || values[len(values)-1] != ']' {
		return nil, errValues
	}
	r := valueReader{
		in:     values[1 : len(values)-1],
		out:    make([]byte, 0, min(2*len(values), limits.Bytes)+64),
		limits: limits,
	}
	ends := make([]int, len(shapes))
	for i := range shapes {
		if err := r.shape(&shapes[i]); err != nil {
			return nil, err
		}
		ends[i] = len(r.out)
	}
	if r.at < len(r.in) {
		return nil, errValues
	}
	results := make([]json.RawMessage, len(shapes))
	from := 0
	for i, end := range ends {
		results[i] = r.out[from:end:end]
		from = end
	}
	return results, nil
}

func (r *valueReader) shape(s *shape) error {
	switch s.kind {
	case shapeLeaf:
		return r.copy()
	case shapeSingle:
		switch n, err := r.count(); {
		case err != nil:
			return err
		case n == 0:
			return r.copy()
		}
		return r.record(s.fields)
	}
	n, err := r.count()
	if err != nil {
		return err
	}
	r.out = append(r.out, '[')
	for i := range n {
		if i > 0 {
			r.out = append(r.out, ',')
		}
		if s.kind == shapeTexts {
			err = r.copy()
		} else {
			err = r.record(s.fields)
		}
		if err != nil {
			return err
		}
	}
	r.out = append(r.out, ']')
	return nil
}

func (r *valueReader) record(fields []fieldShape) error {
	if len(fields) == 0 {
		r.out = append(r.out, '{')
	}
	for i := range fields {
		f := &fields[i]
		r.out = append(r.out, f.prefix...)
		var err error
		if f.kind == shapeLeaf {
			err = r.copy()
		} else {
			err = r.shape(&f.shape)
		}
		if err != nil {
			return err
		}
	}
	r.out = append(r.out, '}')
	if len(r.out) > r.limits.Bytes {
		return errBytes
	}
	return nil
}

// count reads a number of records. No list of values is as long as what
// follows it, so a wrong one is found before anything is made of it.
func (r *valueReader) count() (int, error) {
	v, err := r.next()
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(string(v))
	if err != nil || n < 0 || n > r.limits.Nodes {
		return 0, errValues
	}
	return n, nil
}

// copy passes one value on.
func (r *valueReader) copy() error {
	v, err := r.next()
	r.out = append(r.out, v...)
	return err
}

// next returns the text of the next value. The text is JSON.stringify's, from
// our own world of the page: it has no white space, and what is inside a value
// is read where it is used.
func (r *valueReader) next() ([]byte, error) {
	if r.at > 0 {
		if r.at >= len(r.in) || r.in[r.at] != ',' {
			return nil, errValues
		}
		r.at++
	}
	start, depth := r.at, 0
	for i := start; i < len(r.in); i++ {
		switch r.in[i] {
		case '"':
			for i++; i < len(r.in) && r.in[i] != '"'; i++ {
				if r.in[i] == '\\' {
					i++
				}
			}
			if i >= len(r.in) {
				return nil, errValues
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if depth == 0 {
				return r.take(i)
			}
		}
	}
	if depth != 0 {
		return nil, errValues
	}
	return r.take(len(r.in))
}

func (r *valueReader) take(end int) ([]byte, error) {
	if end == r.at {
		return nil, errValues
	}
	v := r.in[r.at:end]
	r.at = end
	return v, nil
}
