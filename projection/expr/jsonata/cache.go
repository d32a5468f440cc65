package jsonata

import (
	"container/list"
	"sync"
)

// Cache keeps the programs compiled last. It is safe for concurrent use.
type Cache struct {
	mu   sync.Mutex
	size int
	use  *list.List // of *Program, the most recent in front
	at   map[string]*list.Element
}

// NewCache makes a cache of n programs, at least one.
func NewCache(n int) *Cache {
	return &Cache{size: max(n, 1), use: list.New(), at: make(map[string]*list.Element)}
}

// Compile returns the program of src, compiling it when it is not there.
// Errors are not kept.
func (c *Cache) Compile(src string) (*Program, error) {
	c.mu.Lock()
	if e, ok := c.at[src]; ok {
		c.use.MoveToFront(e)
		p := e.Value.(*Program)
		c.mu.Unlock()
		return p, nil
	}
	c.mu.Unlock()
	p, err := Compile(src)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.at[src]; ok { // another goroutine was faster
		c.use.MoveToFront(e)
		return e.Value.(*Program), nil
	}
	c.at[src] = c.use.PushFront(p)
	for c.use.Len() > c.size {
		last := c.use.Back()
		delete(c.at, last.Value.(*Program).src)
		c.use.Remove(last)
	}
	return p, nil
}

// Len is the number of programs held.
func (c *Cache) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.use.Len()
}
