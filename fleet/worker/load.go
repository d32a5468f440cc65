package worker

import (
	"sync"
	"time"
)

// machine is how loaded this machine is, measured at most once a second for all workers
// of the process.
var machine measured

type measured struct {
	mu       sync.Mutex
	at       time.Time
	one      float64
	memoryMB int64
}

func (m *measured) load() (one float64, memoryMB int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.at) >= time.Second {
		m.one, m.memoryMB = measure()
		m.at = time.Now()
	}
	return m.one, m.memoryMB
}
