//go:build race

package record_test

// slower is how much longer things may take: the race detector watches.
const slower = 10
