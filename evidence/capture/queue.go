package capture

import "sync"

// queue runs what is put into it, one after the other, in a goroutine of its own. A recording is encoded,
// masked and written there, so that a call does not wait for it. An entry may wait for an answer of the
// page: those behind it wait with it, which keeps a text that is found to be secret out of all of them.
type queue struct {
	mu      sync.Mutex
	changed sync.Cond
	items   []func()
	running bool // an item runs, or the goroutine is about to take one
	closed  bool
	done    chan struct{}
}

// maxQueued is how many entries wait before those who can wait for room do.
const maxQueued = 2000

func newQueue() *queue {
	q := &queue{done: make(chan struct{})}
	q.changed.L = &q.mu
	go q.run()
	return q
}

func (q *queue) run() {
	defer close(q.done)
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		for len(q.items) == 0 {
			if q.closed {
				return
			}
			q.changed.Wait()
		}
		list := q.items
		q.items, q.running = nil, true
		q.mu.Unlock()
		for _, f := range list {
			f()
		}
		q.mu.Lock()
		q.running = false
		q.changed.Broadcast()
	}
}

// add puts f at the end. It does not wait. After close f is dropped.
func (q *queue) add(f func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.items = append(q.items, f)
		q.changed.Broadcast()
	}
}

// awaitSpace returns when few entries wait. Who produces many calls it.
func (q *queue) awaitSpace() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) > maxQueued && !q.closed {
		q.changed.Wait()
	}
}

// settle returns when what was added before has run. An entry of the queue must not call it.
func (q *queue) settle() {
	done := make(chan struct{})
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		<-q.done
		return
	}
	q.items = append(q.items, func() { close(done) })
	q.changed.Broadcast()
	q.mu.Unlock()
	<-done
}

// close runs what is there and ends the goroutine.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.changed.Broadcast()
	q.mu.Unlock()
	<-q.done
}
