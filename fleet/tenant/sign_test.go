package tenant_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/outrider-run/outrider/fleet/tenant"
)

// Workers that start at once with the file of a key that is not there have one key, the one
// in the file.
func TestOneKeyIsMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.nk")
	const workers = 16
	keys := make([]string, workers)
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() {
			s, err := tenant.OpenSigner(path)
			if err != nil {
				t.Error(err)
				return
			}
			keys[i] = s.Public
		})
	}
	all.Wait()
	kept, err := tenant.OpenSigner(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range keys {
		if key != kept.Public {
			t.Errorf("worker %d signs by %s, and the file has %s", i, key, kept.Public)
		}
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}
