package fault

import (
	"cmp"
	"slices"
)

// maxNear bounds the names that are compared and reported.
const (
	maxNear       = 3
	maxNearLength = 64
)

// Nearest returns the name of names that a person most likely meant by s, or ""
// when none is close: what "did you mean" may say.
func Nearest(s string, names []string) string {
	if near := Near(s, names); len(near) > 0 {
		return near[0]
	}
	return ""
}

// Near returns up to three names close to s, best first and in the order of
// names where they are equally close. A name is close when no more than a third
// of s, and one letter, was mistyped; of s itself nothing may be left over.
func Near(s string, names []string) []string {
	type scored struct {
		name string
		d    int
	}
	out := []string{}
	if len(s) > maxNearLength {
		return out
	}
	var list []scored
	limit := min(len(s)/3+1, len(s)-1)
	for _, n := range names {
		if n == s || len(n) > maxNearLength {
			continue
		}
		if d := distance(s, n, limit); d <= limit {
			list = append(list, scored{n, d})
		}
	}
	slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(a.d, b.d) })
	for _, e := range list[:min(maxNear, len(list))] {
		out = append(out, e.name)
	}
	return out
}

// distance counts inserted, removed, replaced and swapped bytes, and stops
// counting above limit. Both texts have at most maxNearLength bytes.
func distance(a, b string, limit int) int {
	if diff := len(a) - len(b); diff > limit || -diff > limit {
		return limit + 1
	}
	var rows [3][maxNearLength + 1]int
	for j := range len(b) + 1 {
		rows[0][j] = j
	}
	prev2 := &rows[2]
	prev := &rows[0]
	cur := &rows[1]
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, prev2[j-2]+1)
			}
			cur[j] = d
			least = min(least, d)
		}
		if least > limit {
			return limit + 1
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
