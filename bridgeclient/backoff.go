package bridgeclient

import "time"

// backoff gives the waits between attempts to connect.
type backoff struct {
	min, max time.Duration
	random   func() float64
	n        int
}

// next returns the wait before the next attempt.
func (b *backoff) next() time.Duration {
	d := b.min
	for range b.n {
		d *= 2
		if d >= b.max {
			d = b.max
			break
		}
	}
	b.n++
	return d - time.Duration(b.random()*float64(d)/4)
}

func (b *backoff) reset() { b.n = 0 }
