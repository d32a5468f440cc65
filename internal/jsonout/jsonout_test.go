package jsonout_test

import (
	"math"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/jsonout"
)

func TestLine(t *testing.T) {
	v := map[string]any{"b": "<a href='x'>&</a>", "a": []int{1}}
	if got, err := jsonout.Line(v); err != nil || string(got) != `{"a":[1],"b":"<a href='x'>&</a>"}` {
		t.Errorf("got %s, %v", got, err)
	}
	if got, err := jsonout.Line(math.Inf(1)); err == nil || got != nil {
		t.Errorf("got %s, %v, want nothing and an error", got, err)
	}
	const want = "{\n  \"a\": \"<\"\n}\n"
	if got, err := jsonout.File(map[string]string{"a": "<"}, "  "); err != nil || string(got) != want {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestTime(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6_700_000, time.FixedZone("", 3600))
	if got := jsonout.Time(at); got != "2026-01-02T02:04:05.006Z" {
		t.Errorf("got %s", got)
	}
}
