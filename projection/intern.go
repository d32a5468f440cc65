package projection

import (
	"encoding/binary"
	"slices"
)

// interner gives equal values the same id, so that comparing two of any size
// costs nothing. The order of members makes no difference to it.
type interner struct {
	ids map[string]int
	buf []byte
}

func newInterner() *interner { return &interner{ids: map[string]int{}} }

func (in *interner) number(key []byte) int {
	if id, ok := in.ids[string(key)]; ok {
		return id
	}
	id := len(in.ids) + 1
	in.ids[string(key)] = id
	return id
}

// text gives an id to something that is not a value.
func (in *interner) text(s string) int { return in.number(append([]byte{'#'}, s...)) }

// value sets the id of v and of everything in it.
func (in *interner) value(v *value) int {
	for _, item := range v.items {
		in.value(item)
	}
	b := append(in.buf[:0], byte(v.kind))
	switch v.kind {
	case kindNumber, kindString:
		b = append(b, v.text...)
	case kindArray:
		for _, item := range v.items {
			b = binary.AppendUvarint(b, uint64(item.id))
		}
	case kindObject:
		order := make([]int, len(v.names))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(i, j int) int {
			if v.names[i] < v.names[j] {
				return -1
			}
			return 1
		})
		for _, i := range order {
			b = binary.AppendUvarint(b, uint64(len(v.names[i])))
			b = append(b, v.names[i]...)
			b = binary.AppendUvarint(b, uint64(v.items[i].id))
		}
	}
	v.id = in.number(b)
	in.buf = b[:0]
	return v.id
}
