package jsonata

import (
	"maps"
	"slices"
	"sort"
	"sync"
	"unicode"
)

// unitRange is an inclusive range of UTF-16 code units.
type unitRange struct{ lo, hi uint16 }

// Sets written as sorted ranges, from the ECMAScript definitions.
var (
	reDigit = []unitRange{{'0', '9'}}
	reWord  = []unitRange{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}
	reSpace = []unitRange{
		{'\t', '\r'},
		{' ', ' '},
		{0xa0, 0xa0},
		{0x1680, 0x1680},
		{0x2000, 0x200a},
		{0x2028, 0x2029},
		{0x202f, 0x202f},
		{0x205f, 0x205f},
		{0x3000, 0x3000},
		{0xfeff, 0xfeff},
	}
	reLineEnd    = []unitRange{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}}
	reNotLineEnd = invertRanges(reLineEnd)
)

// normalRanges sorts ranges and joins those that touch.
func normalRanges(in []unitRange) []unitRange {
	if len(in) < 2 {
		return in
	}
	slices.SortFunc(in, func(a, b unitRange) int { return int(a.lo) - int(b.lo) })
	out := in[:1]
	for _, r := range in[1:] {
		last := &out[len(out)-1]
		if int(r.lo) <= int(last.hi)+1 {
			last.hi = max(last.hi, r.hi)
		} else {
			out = append(out, r)
		}
	}
	return out
}

// invertRanges returns the complement of normal ranges.
func invertRanges(in []unitRange) []unitRange {
	var out []unitRange
	next := 0
	for _, r := range in {
		if next < int(r.lo) {
			out = append(out, unitRange{uint16(next), r.lo - 1})
		}
		next = int(r.hi) + 1
	}
	if next <= 0xffff {
		out = append(out, unitRange{uint16(next), 0xffff})
	}
	return out
}

func inRanges(rs []unitRange, u uint16) bool {
	i := sort.Search(len(rs), func(i int) bool { return rs[i].hi >= u })
	return i < len(rs) && rs[i].lo <= u
}

// canonicalUnit is Canonicalize(ch) of ECMAScript for a pattern with the i flag
// and without the u flag: the upper case of the unit, if that is one unit and
// does not cross into ASCII.
func canonicalUnit(u uint16) uint16 {
	if u < 128 {
		if u >= 'a' && u <= 'z' {
			u -= 'a' - 'A'
		}
		return u
	}
	switch {
	case u >= 0x1f80 && u <= 0x1faf, u == 0x1fb3, u == 0x1fc3, u == 0x1ff3:
		return u // the full upper case has two letters
	}
	if up, ok := laterUpper[u]; ok {
		return up
	}
	up := unicode.ToUpper(rune(u))
	if up < 128 || up > 0xffff {
		return u
	}
	return uint16(up)
}

// laterUpper has the upper case letters that came after the Unicode version of
// older Go releases, so that the answer does not depend on the compiler.
var laterUpper = map[uint16]uint16{
	0x019b: 0xa7dc, 0x0264: 0xa7cb, 0x1c8a: 0x1c89, 0xa7cd: 0xa7cc,
	0xa7cf: 0xa7ce, 0xa7d3: 0xa7d2, 0xa7d5: 0xa7d4, 0xa7db: 0xa7da,
}

// caseClasses lists, for the units beyond ASCII, the sets of two or more units
// that have the same canonical unit.
var caseClasses = sync.OnceValue(func() map[uint16][]uint16 {
	classes := map[uint16][]uint16{}
	for u := 128; u <= 0xffff; u++ {
		if c := canonicalUnit(uint16(u)); c != uint16(u) {
			if classes[c] == nil {
				classes[c] = []uint16{c}
			}
			classes[c] = append(classes[c], uint16(u))
		}
	}
	return classes
})

// caseLists has the values of caseClasses.
var caseLists = sync.OnceValue(func() [][]uint16 {
	return slices.Collect(maps.Values(caseClasses()))
})

// caseVariants returns every unit that matches u when case is ignored.
func caseVariants(u uint16) []uint16 {
	switch {
	case u >= 'a' && u <= 'z':
		return []uint16{u - ('a' - 'A'), u}
	case u >= 'A' && u <= 'Z':
		return []uint16{u, u + ('a' - 'A')}
	case u < 128:
		return []uint16{u}
	}
	if class := caseClasses()[canonicalUnit(u)]; class != nil {
		return class
	}
	return []uint16{u}
}

// foldRanges adds to normal ranges every unit that differs from a member by
// case only. ASCII letters fold among themselves (K, the Kelvin sign, is its
// own canonical unit), so ASCII sets need no table.
func foldRanges(in []unitRange) []unitRange {
	out := slices.Clone(in)
	beyond := 0 // members that are not ASCII
	for _, r := range in {
		beyond += max(0, int(r.hi)-max(int(r.lo), 128)+1)
		if lo, hi := max(r.lo, 'a'), min(r.hi, 'z'); lo <= hi {
			out = append(out, unitRange{lo - 32, hi - 32})
		}
		if lo, hi := max(r.lo, 'A'), min(r.hi, 'Z'); lo <= hi {
			out = append(out, unitRange{lo + 32, hi + 32})
		}
	}
	switch {
	case beyond == 0 || beyond == 0x10000-128:
	case beyond <= 256:
		for _, r := range in {
			for u := max(int(r.lo), 128); u <= int(r.hi); u++ {
				for _, v := range caseVariants(uint16(u)) {
					out = append(out, unitRange{v, v})
				}
			}
		}
	default:
		return foldManyRanges(out)
	}
	return normalRanges(out)
}

// foldManyRanges is foldRanges for large sets: a bit for every unit is cheaper
// than sorting.
func foldManyRanges(in []unitRange) []unitRange {
	var bits [0x10000 / 64]uint64
	has := func(u uint16) bool { return bits[u>>6]>>(u&63)&1 != 0 }
	for _, r := range in {
		lo, hi := int(r.lo), int(r.hi)
		for lo <= hi {
			if lo&63 == 0 && lo+63 <= hi {
				bits[lo>>6] = ^uint64(0)
				lo += 64
				continue
			}
			bits[lo>>6] |= 1 << (lo & 63)
			lo++
		}
	}
	for _, class := range caseLists() {
		if slices.ContainsFunc(class, has) {
			for _, u := range class {
				bits[u>>6] |= 1 << (u & 63)
			}
		}
	}
	var out []unitRange
	for i := 0; i <= 0xffff; i++ {
		switch word := bits[i>>6]; {
		case i&63 == 0 && word == 0:
			i += 63
		case word>>(i&63)&1 == 0:
		default:
			start := i
			for i < 0xffff && has(uint16(i+1)) {
				i++
				if i&63 == 0 && bits[i>>6] == ^uint64(0) {
					i += 63
				}
			}
			out = append(out, unitRange{uint16(start), uint16(i)})
		}
	}
	return out
}

// rangesKey identifies a set.
func rangesKey(rs []unitRange) string {
	key := make([]byte, 0, 4*len(rs))
	for _, r := range rs {
		key = append(key, byte(r.lo), byte(r.lo>>8), byte(r.hi), byte(r.hi>>8))
	}
	return string(key)
}

// unitSet is a set of units ready for matching.
type unitSet struct {
	low    [8]uint32   // bitmap of the units below 256
	ranges []unitRange // all members
}

func newUnitSet(rs []unitRange) unitSet {
	s := unitSet{ranges: rs}
	for _, r := range rs {
		for u := int(r.lo); u <= int(r.hi) && u < 256; u++ {
			s.low[u>>5] |= 1 << (u & 31)
		}
	}
	return s
}

func (s *unitSet) has(u uint16) bool {
	if u < 256 {
		return s.low[u>>5]>>(u&31)&1 != 0
	}
	return s.hasHigh(u)
}

func (s *unitSet) hasHigh(u uint16) bool {
	if n := len(s.ranges); n > 0 && s.ranges[n-1].hi == 0xffff && s.ranges[n-1].lo <= u {
		return true
	}
	return inRanges(s.ranges, u)
}

// disjoint reports whether two sets of normal ranges have no common member.
func disjoint(a, b []unitRange) bool {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].hi < b[0].lo:
			a = a[1:]
		case b[0].hi < a[0].lo:
			b = b[1:]
		default:
			return false
		}
	}
	return true
}

func isWordUnit(u uint16) bool {
	return u < 128 && (u >= 'a' && u <= 'z' || u >= 'A' && u <= 'Z' || u >= '0' && u <= '9' || u == '_')
}

func isLineEnd(u uint16) bool {
	return u == '\n' || u == '\r' || u == 0x2028 || u == 0x2029
}
