package recent_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/evidence/capture"
	"github.com/outrider-run/outrider/evidence/recent"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// remembering is a host without a browser that had some calls.
func remembering(t *testing.T, folder string, names ...string) *recent.Recent {
	t.Helper()
	r, err := recent.New(folder, func(ring record.Sink) (*capture.Recorder, error) {
		return capture.New(recent.Options(recent.Pages, capture.Options{
			Header: record.Header{Program: "test"},
			Sinks:  []record.Sink{ring},
		})), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Recorder().Close() })
	for _, name := range names {
		_, answered := r.Recorder().Call(
			runtime.TabStatus{TabID: 1, URL: "http://shop.test/"}, runtime.Call{Name: name},
		)
		reply := runtime.Reply{Output: json.RawMessage(`{"ok":true}`)}
		if name == "fails" {
			reply = runtime.Reply{Err: fault.New(fault.TargetNotFound, "nothing")}
		}
		answered(reply)
	}
	return r
}

// A process gives its recording to others of the same user, and goes on.
func TestWhatIsRememberedIsSavedFromOutside(t *testing.T) {
	sockets, err := os.MkdirTemp("", "s") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(sockets) })
	path := filepath.Join(t.TempDir(), "a.rec")
	if _, err := recent.SaveFrom(t.Context(), sockets, 0, path); fault.CodeOf(err) != fault.TargetNotFound {
		t.Errorf("without a process: %v", err)
	}
	one := remembering(t, t.TempDir(), "page.info", "fails")
	stop, err := one.Serve(context.Background(), sockets, recent.Process{PID: 4001, Verb: "mcp", Started: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	saved, err := recent.SaveFrom(t.Context(), sockets, 0, path)
	if err != nil || saved.Calls != 2 || saved.Failed != 1 {
		t.Fatalf("%+v, %v", saved, err)
	}
	r, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	calls := record.Calls(r.Events)
	if r.Cut || len(calls) != 2 || calls[0].Name != "page.info" || !calls[1].Finished || calls[1].OK {
		t.Errorf("cut %v, %+v", r.Cut, calls)
	}
	if _, err := recent.SaveFrom(t.Context(), sockets, 0, path); fault.CodeOf(err) != fault.InvalidInput {
		t.Errorf("a file that is there: %v", err)
	}
	two := remembering(t, t.TempDir(), "page.info")
	stopTwo, err := two.Serve(context.Background(), sockets, recent.Process{
		PID:     4002,
		Verb:    "connect",
		Started: time.Now(),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stopTwo()
	_, err = recent.SaveFrom(t.Context(), sockets, 0, path+"2")
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.InvalidInput || !strings.Contains(f.Message, "4001 mcp") ||
		!strings.Contains(f.Message, "4002 connect") {
		t.Errorf("two processes: %v", err)
	}
	if saved, err := recent.SaveFrom(t.Context(), sockets, 4002, path+"2"); err != nil || saved.Calls != 1 {
		t.Errorf("the second: %+v, %v", saved, err)
	}
	stop()
	if list := recent.Running(t.Context(), sockets); len(list) != 1 || list[0].PID != 4002 {
		t.Errorf("after one has ended: %+v", list)
	}
	if info, err := os.Stat(sockets); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder of the sockets: %v, %v", info.Mode(), err)
	}
}

// An agent saves without choosing the place, and cannot fill the disk.
func TestAnAgentSaves(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "recordings")
	r := remembering(t, folder, "fails")
	for range 30 {
		reply := r.Answer(t.Context(), nil, runtime.TabStatus{}, nil)
		if reply.Err != nil {
			t.Fatal(reply.Err)
		}
		var out recent.Saved
		if err := json.Unmarshal(reply.Output, &out); err != nil || filepath.Dir(out.Path) != folder ||
			out.Failed != 1 || out.Bytes == 0 {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	if list, err := os.ReadDir(folder); err != nil || len(list) > 20 {
		t.Errorf("%d files, %v: expected at most 20", len(list), err)
	}
}
