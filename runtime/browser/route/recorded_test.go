package route_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/runtime/browser/route"
)

// testdata/recorded.json has visits, with the milliseconds in which each request began and ended, and what requests
// get when they are made again in another order or number.
func TestRecordedAnswers(t *testing.T) {
	t.Parallel()
	type request struct {
		ID, Asks, Type, Body, From, Gets string
		At                               []int
	}
	var cases []struct {
		Name         string
		Visit, Asked []request
	}
	raw, err := os.ReadFile(filepath.Join("testdata", "recorded.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	made := func(r request) route.Request {
		method, address, _ := strings.Cut(r.Asks, " ")
		if strings.HasPrefix(address, "/") {
			address = "http://site.test" + address
		}
		q := route.Request{Method: method, URL: address, Type: r.Type, Body: []byte(r.Body)}
		if r.From != "" {
			q.Headers = map[string]string{"referer": "http://site.test" + r.From}
		}
		return q
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			var visit route.Recorded[string]
			for _, r := range c.Visit {
				var began, ended time.Time
				if len(r.At) == 2 {
					began = start.Add(time.Duration(r.At[0]) * time.Millisecond)
					ended = start.Add(time.Duration(r.At[1]) * time.Millisecond)
				}
				visit.Add(made(r), began, ended, r.ID)
			}
			for n, r := range c.Asked {
				if got, _ := visit.Next(made(r)); got != r.Gets {
					t.Errorf("request %d, %s from %s: got %q, want %q", n+1, r.Asks, r.From, got, r.Gets)
				}
			}
		})
	}
}
