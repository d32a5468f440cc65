package projection

import (
	"slices"
	"strconv"
)

// none marks an item without a partner in the other list.
const none = -1

// matching says which items of two lists are the same.
type matching struct {
	target []int // for each old item its new index, or none
	source []int // for each new item its old index, or none
	stable []bool
	// stable has, for each old item, whether it keeps its place: stable items
	// are in the same order in both lists. The other matched ones have moved.
}

// list compares two lists at the current path.
//
// The operations come in this order: removals from the end, then what happens
// at each index of the new list from its start. An index that was dealt with is
// final, since everything later happens to its right.
func (d *differ) list(before, after []*value) {
	m := d.match(before, after)
	base := joinPointer(d.path) + "/"
	at := func(i int) string { return base + strconv.Itoa(i) }
	for i, t := range slices.Backward(m.target) {
		if t == none {
			d.ops = append(d.ops, operation{op: "remove", path: at(i), value: before[i], entity: d.entity})
		}
	}
	// rest holds the old items that are not in their place yet, in order.
	rest := make([]int, 0, len(before))
	for i, t := range m.target {
		if t != none {
			rest = append(rest, i)
		}
	}
	for j := range after {
		i := m.source[j]
		// An item that belongs further right makes way first, so that the
		// stable ones need not move.
		for len(rest) > 0 && rest[0] != i && !m.stable[rest[0]] {
			moving := rest[0]
			to := 0
			for k, r := range rest[1:] {
				if m.stable[r] && m.target[r] < m.target[moving] {
					to = k + 1
				}
			}
			m.stable[moving] = true
			if to == 0 {
				break // what comes in between will be put before it
			}
			rest = slices.Insert(rest[1:], to, moving)
			d.ops = append(d.ops, operation{
				op:     "move",
				from:   at(j),
				path:   at(j + to),
				value:  after[m.target[moving]],
				entity: d.entity,
			})
		}
		switch {
		case i == none:
			d.ops = append(d.ops, operation{op: "add", path: at(j), value: after[j], entity: d.entity})
			continue
		case rest[0] == i:
			rest = rest[1:]
		default:
			k := slices.Index(rest, i)
			rest = slices.Delete(rest, k, k+1)
			d.ops = append(
				d.ops, operation{op: "move", from: at(j + k), path: at(j), value: after[j], entity: d.entity},
			)
		}
		m.stable[i] = true
		d.item(j, before[i], after[j])
	}
}

// Bounds of the exact methods; beyond them a linear one is used, whose patches
// are as right but not always as short.
const (
	maxTable   = 1 << 20 // cells of a table of common subsequences
	maxSimilar = 1 << 12 // cells of a table of similarities
	maxMoving  = 1 << 26 // moved items times length of the list
)

// match finds out which items are the same.
func (d *differ) match(before, after []*value) *matching {
	m := &matching{target: filled(len(before)), source: filled(len(after)), stable: make([]bool, len(before))}
	key := d.identity.of(d.path)
	oldTokens, oldNamed := d.tokens(before, key)
	newTokens, newNamed := d.tokens(after, key)

	// What is the same at both ends keeps its place.
	low, high := 0, 0
	for low < min(len(before), len(after)) && oldTokens[low] == newTokens[low] {
		m.pair(low, low, true)
		low++
	}
	for high < min(len(before), len(after))-low && oldTokens[len(before)-1-high] == newTokens[len(after)-1-high] {
		high++
		m.pair(len(before)-high, len(after)-high, true)
	}
	a, b := oldTokens[low:len(before)-high], newTokens[low:len(after)-high]
	if len(a)*len(b) <= maxTable {
		for _, p := range commonSubsequence(a, b) {
			m.pair(low+p[0], low+p[1], true)
		}
		moved := m.rest(oldTokens, newTokens, low, len(before)-high, len(after)-high)
		if len(moved)*len(before) <= maxMoving {
			for _, p := range moved {
				m.pair(p[0], p[1], false)
			}
		}
	} else {
		pairs := m.rest(oldTokens, newTokens, low, len(before)-high, len(after)-high)
		kept := increasing(pairs)
		few := (len(pairs)-len(kept))*len(before) <= maxMoving
		for k, p := range pairs {
			if _, ok := kept[k]; ok || few {
				m.pair(p[0], p[1], ok)
			}
		}
	}
	m.changed(before, after, oldNamed, newNamed)
	return m
}

func filled(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = none
	}
	return s
}

func (m *matching) pair(i, j int, stable bool) {
	m.target[i] = j
	m.source[j] = i
	m.stable[i] = stable
}

// tokens gives each item a number that says what it is: its identity when it
// has one to itself, else its content. named distinguishes the two.
func (d *differ) tokens(items []*value, key []string) (tokens []int, named []bool) {
	tokens, named = make([]int, len(items)), make([]bool, len(items))
	seen := map[int]int{}
	for i, item := range items {
		tokens[i] = item.id
		if key == nil {
			continue
		}
		if name, ok := identify(item, key); ok {
			tokens[i], named[i] = d.in.text(name), true
			seen[tokens[i]]++
		}
	}
	for i := range items {
		if named[i] && seen[tokens[i]] > 1 {
			tokens[i], named[i] = items[i].id, false
		}
	}
	return tokens, named
}

// commonSubsequence returns the index pairs of a longest common subsequence.
func commonSubsequence(a, b []int) [][2]int {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	width := len(b) + 1
	table := make([]int32, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i*width+j] = table[(i+1)*width+j+1] + 1
			} else {
				table[i*width+j] = max(table[(i+1)*width+j], table[i*width+j+1])
			}
		}
	}
	var pairs [][2]int
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case table[(i+1)*width+j] >= table[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}

// rest pairs equal items that have no partner yet, in order of appearance.
func (m *matching) rest(a, b []int, low, aEnd, bEnd int) [][2]int {
	free := map[int][]int{}
	for j := low; j < bEnd; j++ {
		if m.source[j] == none {
			free[b[j]] = append(free[b[j]], j)
		}
	}
	var pairs [][2]int
	for i := low; i < aEnd; i++ {
		if list := free[a[i]]; m.target[i] == none && len(list) > 0 {
			pairs = append(pairs, [2]int{i, list[0]})
			free[a[i]] = list[1:]
		}
	}
	return pairs
}

// increasing returns the indexes, into pairs, of a longest subsequence whose
// new indexes increase.
func increasing(pairs [][2]int) map[int]struct{} {
	var tails []int // index of the pair that ends the best run of each length
	previous := make([]int, len(pairs))
	for k, p := range pairs {
		at, _ := slices.BinarySearchFunc(tails, p[1], func(t, j int) int { return pairs[t][1] - j })
		previous[k] = none
		if at > 0 {
			previous[k] = tails[at-1]
		}
		tails = append(tails[:at], append([]int{k}, tails[min(at+1, len(tails)):]...)...)
	}
	kept := map[int]struct{}{}
	if len(tails) > 0 {
		for k := tails[len(tails)-1]; k != none; k = previous[k] {
			kept[k] = struct{}{}
		}
	}
	return kept
}

// changed pairs what is left between two stable items: it stands for the same
// thing, changed. Items with an identity are exempt, for theirs says otherwise.
func (m *matching) changed(before, after []*value, oldNamed, newNamed []bool) {
	i, j := 0, 0
	for i < len(before) || j < len(after) {
		var left, right []int
		for ; i < len(before) && !m.stable[i]; i++ {
			if m.target[i] == none && !oldNamed[i] {
				left = append(left, i)
			}
		}
		end := len(after)
		if i < len(before) {
			end = m.target[i]
		}
		for ; j < end; j++ {
			if m.source[j] == none && !newNamed[j] {
				right = append(right, j)
			}
		}
		for _, p := range similarPairs(before, after, left, right) {
			m.pair(p[0], p[1], true)
		}
		// The new pairs lie before i and j, in order: past them.
		i, j = i+1, j+1
	}
}

// similarPairs pairs as many items as it can, in order, so that they have most
// in common.
func similarPairs(before, after []*value, left, right []int) [][2]int {
	n := min(len(left), len(right))
	var pairs [][2]int
	if len(left) == len(right) || len(left)*len(right) > maxSimilar {
		for k := range n {
			pairs = append(pairs, [2]int{left[k], right[k]})
		}
		return pairs
	}
	width := len(right) + 1
	table := make([]int, (len(left)+1)*width)
	score := func(x, y int) int { return 1000 + min(similarity(before[left[x]], after[right[y]]), 999) }
	for x := len(left) - 1; x >= 0; x-- {
		for y := len(right) - 1; y >= 0; y-- {
			table[x*width+y] = max(table[(x+1)*width+y+1]+score(x, y), table[(x+1)*width+y], table[x*width+y+1])
		}
	}
	for x, y := 0, 0; x < len(left) && y < len(right); {
		switch table[x*width+y] {
		case table[(x+1)*width+y+1] + score(x, y):
			pairs = append(pairs, [2]int{left[x], right[y]})
			x, y = x+1, y+1
		case table[(x+1)*width+y]:
			x++
		default:
			y++
		}
	}
	return pairs
}

// similarity counts what two values have in common.
func similarity(a, b *value) int {
	if a.kind != b.kind {
		return 0
	}
	n := 1
	switch a.kind {
	case kindObject:
		for i, name := range a.names {
			if other := b.member(name); other != nil {
				n++
				if other.id == a.items[i].id {
					n += 4
				}
			}
		}
	case kindArray:
		for i := range min(len(a.items), len(b.items)) {
			if a.items[i].id == b.items[i].id {
				n += 4
			}
		}
	}
	return n
}
