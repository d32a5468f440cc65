package browsertest

import "testing"

func TestWaitingPer(t *testing.T) {
	for line, want := range map[string]int{
		"0.10 0.20 0.30 1/200 4711":       1,
		"0.10 0.20 0.30 0/200 4711":       1,
		"38.1 41.7 33.5 54/600 4711":      14,
		"38.1 41.7 33.5 999/2000 4711":    mostPatience,
		"":                                1,
		"38.1 41.7 33.5 many/2000 4711\n": 1,
	} {
		if got := waitingPer(line, 4); got != want {
			t.Errorf("%q: got %d, want %d", line, got, want)
		}
	}
}
