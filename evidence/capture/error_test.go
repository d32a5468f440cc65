package capture_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/evidence/capture"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// What a caller adds to an error after its call was answered is not in the recording, and is not
// written while the recorder reads.
func TestARecordingHasAnErrorAsItWas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.rec")
	file, err := record.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	opts := capture.Options{Sinks: []record.Sink{file}, OnClose: file.Close}
	opts.Header.Program = "test"
	r := capture.New(opts)
	for range 300 {
		_, answered := r.Call(runtime.TabStatus{TabID: 1}, runtime.Call{ID: "1", Name: "page.info"})
		failed := fault.New(fault.TargetNotFound, "nothing").With("first", true)
		answered(runtime.Reply{Err: failed})
		for i := range 50 {
			failed = failed.With("later"+strconv.Itoa(i), true).Field("later", i)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(raw), `"first"`); n != 300 || strings.Contains(string(raw), `"later`) {
		t.Errorf("%d errors as they were, want 300, and nothing that came later", n)
	}
}
