package mcp_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/faces/mcp"
)

// A client that is slow misses steps in the middle, never the last one. Issue 15.
func TestTheLastStepIsAlwaysTold(t *testing.T) {
	for _, steps := range []int{0, 1, 3, 16, 17, 40} {
		sent := mcp.Report(steps)
		if steps == 0 {
			if len(sent) != 0 {
				t.Errorf("without a step %q was sent", sent)
			}
			continue
		}
		if _, step, _ := strings.Cut(sent[len(sent)-1], ": "); step != strconv.Itoa(steps-1) {
			t.Errorf("%d steps: the last one sent is %s of %q", steps, step, sent)
		}
		if steps <= 16 && len(sent) != steps || len(sent) > 17 {
			t.Errorf("%d steps: %d were sent, want all up to 16 and at most 17", steps, len(sent))
		}
		for i, s := range sent {
			if n, _, _ := strings.Cut(s, ": "); n != strconv.Itoa(i+1) {
				t.Errorf("%d steps: message %d has the number %s", steps, i+1, n)
			}
		}
	}
}
