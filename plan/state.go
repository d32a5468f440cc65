package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/evidence/outfile"
	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// maxState bounds a file of storage state.
const maxState = 64 << 20

// LoadState reads a file of storage state: one that SaveState or Playwright wrote.
func LoadState(path string) (json.RawMessage, error) {
	text, err := outfile.Read(path, maxState)
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "the storage state cannot be read: %v", err)
	}
	state, err := stateIn(text)
	if err != nil {
		return nil, fault.New(
			fault.InvalidInput, "%s is no storage state: expected a JSON object with cookies and origins", path,
		)
	}
	return state, nil
}

// stateIn is the storage state in a JSON object that may have more members.
func stateIn(text []byte) (json.RawMessage, error) {
	var shape struct {
		Cookies []json.RawMessage `json:"cookies"`
		Origins []json.RawMessage `json:"origins"`
	}
	if err := json.Unmarshal(text, &shape); err != nil {
		return nil, err
	}
	if shape.Cookies == nil && shape.Origins == nil {
		return nil, errors.New("there are neither cookies nor origins")
	}
	shape.Cookies = append([]json.RawMessage{}, shape.Cookies...)
	shape.Origins = append([]json.RawMessage{}, shape.Origins...)
	return json.Marshal(shape)
}

// LeftOut says, one sentence for each origin, what a session has stored and its storage state lacks.
func LeftOut(state json.RawMessage) []string {
	var in struct {
		Origins []struct {
			Origin    string `json:"origin"`
			IndexedDB []struct {
				Stores []struct {
					LeftOut struct {
						Records int      `json:"records"`
						Kinds   []string `json:"kinds"`
					} `json:"leftOut"`
				} `json:"stores"`
			} `json:"indexedDB"`
		} `json:"origins"`
	}
	if json.Unmarshal(state, &in) != nil {
		return nil
	}
	var out []string
	for _, o := range in.Origins {
		records := 0
		var kinds []string
		for _, db := range o.IndexedDB {
			for _, s := range db.Stores {
				records += s.LeftOut.Records
				kinds = append(kinds, s.LeftOut.Kinds...)
			}
		}
		if records > 0 {
			slices.Sort(kinds)
			out = append(out, fmt.Sprintf(
				"the storage state lacks records of IndexedDB of %s that no file can hold: %d (%s)",
				o.Origin, records, strings.Join(slices.Compact(kinds), ", "),
			))
		}
	}
	return out
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
	if err := outfile.Write(path, out.Bytes(), 0o600); err != nil {
		return fmt.Errorf("writing the storage state: %w", err)
	}
	return nil
}

// Storage says from where the storage state of a run comes and where it goes; "" is
// nowhere.
type Storage struct{ From, To string }

var loginName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// StorageOf reads --storage-state, --save-storage-state and --login. A login is a file
// in the user's configuration that is read when it is there, and written afterwards.
func StorageOf(from, to, login string) (Storage, error) {
	s := Storage{From: from, To: to}
	if login == "" {
		return s, nil
	}
	if from != "" || to != "" {
		return s, errors.New(
			"--login is a storage state of its own: it does not go with --storage-state and --save-storage-state",
		)
	}
	if !loginName().MatchString(login) {
		return s, fmt.Errorf("--login is %q: expected letters, digits, _, - and .", login)
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return s, fmt.Errorf("--login: %w", err)
	}
	s.To = filepath.Join(dir, "outrider", "logins", login+".json")
	if _, err := os.Stat(s.To); err == nil {
		s.From = s.To
	}
	return s, nil
}

// Load reads the state, nil when there is none.
func (s Storage) Load() (json.RawMessage, error) {
	if s.From == "" {
		return nil, nil
	}
	return LoadState(s.From)
}

// Prepare sets the state in the first tab of a host; nil when there is none to set.
func (s Storage) Prepare(o Options) (func(context.Context, *runtime.Host) error, error) {
	state, err := s.Load()
	if err != nil || state == nil {
		return nil, err
	}
	return func(ctx context.Context, h *runtime.Host) error { return setState(ctx, h, firstTab(h), state, o) }, nil
}

// Save writes the state of the session that a host's first tab is in.
func (s Storage) Save(ctx context.Context, h Host, o Options) error {
	if s.To == "" {
		return nil
	}
	state, err := ReadState(ctx, h, firstTab(h), o)
	if err != nil {
		return err
	}
	for _, what := range LeftOut(state) {
		o.warn("%s", what)
	}
	return SaveState(s.To, state)
}

// setState gives a session what a storage state has.
func setState(ctx context.Context, h Host, on runtime.Target, state json.RawMessage, o Options) error {
	arguments, err := json.Marshal(map[string]any{"state": state})
	if err != nil {
		return fault.Wrap(fault.Internal, err, "encoding the storage state")
	}
	reply := h.Do(ctx, runtime.Call{
		ID:        o.NewID(),
		Target:    on,
		Name:      "storage_state.set",
		Arguments: arguments,
		Timeout:   o.CallTimeout,
	})
	if reply.Err != nil {
		f := *reply.Err
		f.Message = "setting the storage state: " + f.Message
		return &f
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
	reply := h.Do(ctx, runtime.Call{
		ID:        o.NewID(),
		Target:    on,
		Name:      "storage_state.get",
		Arguments: json.RawMessage(`{"indexed_db":true,"session_storage":true}`),
		Timeout:   o.CallTimeout,
	})
	if reply.Err != nil {
		return nil, reply.Err
	}
	return stateIn(reply.Value())
}

// Both does one after the other; nil does nothing.
func Both(first, second func(context.Context, *runtime.Host) error) func(context.Context, *runtime.Host) error {
	if first == nil {
		return second
	}
	if second == nil {
		return first
	}
	return func(ctx context.Context, h *runtime.Host) error {
		if err := first(ctx, h); err != nil {
			return err
		}
		return second(ctx, h)
	}
}
