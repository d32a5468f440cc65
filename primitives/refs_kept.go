package primitives

import (
	"slices"
	"strconv"
)

// Kept is the part of an answer that a tab keeps, so that a later one can be compared with it.
type Kept interface {
	// Size is about how many bytes it takes.
	Size() int
}

type kept struct {
	id   string
	what Kept
}

// A tab keeps its newest answers, and no more of them than this.
const (
	mostKept      = 8
	mostKeptBytes = 4 << 20
)

// Keep keeps an answer and returns its id.
func (r *Refs) Keep(what Kept) (id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	id = "s" + strconv.Itoa(r.last)
	r.kept = append(r.kept, kept{id, what})
	size, from := 0, len(r.kept)-1
	for i := from; i >= 0 && len(r.kept)-i <= mostKept; i-- {
		size += r.kept[i].what.Size()
		if size > mostKeptBytes && i < len(r.kept)-1 {
			break
		}
		from = i
	}
	r.kept = slices.Clone(r.kept[from:])
	return id
}

// Kept returns what is kept under an id, nil when there is nothing.
func (r *Refs) Kept(id string) Kept {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.kept {
		if k.id == id {
			return k.what
		}
	}
	return nil
}

// NewestKept returns the newest of what is kept that is as wanted, nil when there is none.
func (r *Refs) NewestKept(wanted func(Kept) bool) Kept {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range slices.Backward(r.kept) {
		if wanted(k.what) {
			return k.what
		}
	}
	return nil
}
