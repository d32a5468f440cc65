package manifest

import (
	"bytes"
	"sort"
)

// Place is where something stands in a map. The zero value is nowhere.
type Place struct {
	Pointer string
	Line    int // counts from 1
}

func (v value) place() Place { return Place{v.at.String(), v.c.line(int(v.n.start))} }

// line is the line of an offset in the source.
func (c *checker) line(offset int) int {
	if c.newlines == nil {
		c.newlines = []int{}
		for i := 0; ; i++ {
			n := bytes.IndexByte(c.src[i:], '\n')
			if n < 0 {
				break
			}
			i += n
			c.newlines = append(c.newlines, i)
		}
	}
	return 1 + sort.SearchInts(c.newlines, offset)
}
