package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// maxState bounds a file of storage state.
const maxState = 64 << 20

// LoadState reads a file of storage state: one that SaveState or Playwright wrote.
func LoadState(path string) (json.RawMessage, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "the storage state cannot be read: %v", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxState+1))
	if err != nil || len(text) > maxState {
		return nil, fault.New(fault.InvalidInput, "the storage state %s cannot be read, or is larger than %d bytes", path, maxState)
	}
	var shape struct {
		Cookies []json.RawMessage `json:"cookies"`
		Origins []json.RawMessage `json:"origins"`
	}
	if err := json.Unmarshal(text, &shape); err != nil || shape.Cookies == nil && shape.Origins == nil {
		return nil, fault.New(fault.InvalidInput, "%s is no storage state: expected a JSON object with cookies and origins", path)
	}
	return bytes.TrimSpace(text), nil
}

// SaveState writes a storage state to a file that only its owner can read.
func SaveState(path string, state json.RawMessage) error {
	var out bytes.Buffer
	if err := json.Indent(&out, state, "", "  "); err != nil {
		return fault.Wrap(fault.Internal, err, "writing the storage state")
	}
	out.WriteByte('\n')
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("writing the storage state: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".outrider-*") // mode 0600
	if err != nil {
		return fmt.Errorf("writing the storage state: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(out.Bytes())
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("writing the storage state: %w", err)
	}
	return nil
}

// setState gives a session what a storage state has.
func setState(ctx context.Context, h Host, on runtime.Target, state json.RawMessage, o Options) error {
	arguments, err := json.Marshal(map[string]any{"state": state})
	if err != nil {
		return fault.Wrap(fault.Internal, err, "encoding the storage state")
	}
	reply := h.Do(ctx, runtime.Call{ID: o.NewID(), Target: on, Name: "storage_state.set", Arguments: arguments, Timeout: o.CallTimeout})
	if reply.Err != nil {
		return fault.Wrap(reply.Err.Code, reply.Err, "setting the storage state: %s", reply.Err.Message)
	}
	return nil
}

// readState is what a session has stored.
func readState(ctx context.Context, s *session, o Options) (json.RawMessage, error) {
	on := runtime.Target{RuntimeID: s.tabs[""]}
	return ReadState(ctx, s, on, o)
}

// ReadState is the storage of the session that a tab is in.
func ReadState(ctx context.Context, h Host, on runtime.Target, o Options) (json.RawMessage, error) {
	reply := h.Do(ctx, runtime.Call{ID: o.NewID(), Target: on, Name: "storage_state.get", Arguments: json.RawMessage(`{}`), Timeout: o.CallTimeout})
	if reply.Err != nil {
		return nil, reply.Err
	}
	var wrapped struct {
		Value json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(reply.Output, &wrapped); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "reading the storage state")
	}
	if len(wrapped.Value) > 0 {
		return wrapped.Value, nil
	}
	return reply.Output, nil
}
