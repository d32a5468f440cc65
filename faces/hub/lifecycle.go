package hub

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"
)

// lifecycle is the log of the runtimes in the storage folder, one JSON object per
// line: logs/bridge-lifecycle.jsonl. It has addresses of pages, so it is readable
// for its owner alone and is no part of the bundle.
type lifecycle struct {
	root string

	mu   sync.Mutex
	size int64
	file *os.File
}

const (
	lifecycleFolder = "logs"
	lifecycleFile   = lifecycleFolder + "/bridge-lifecycle.jsonl"
	lifecycleOld    = lifecycleFile + ".1"
	// maxLifecycle is when the log becomes the old one, in bytes.
	maxLifecycle = 8 << 20
)

type lifecycleRow struct {
	TSMS          int64              `json:"ts_ms"`
	Event         string             `json:"event"`
	RuntimeID     string             `json:"runtime_id,omitempty"`
	ConnectionID  int64              `json:"connection_id,omitempty"`
	TabURL        string             `json:"tab_url,omitempty"`
	Reason        string             `json:"reason,omitempty"`
	RemovedActive *bool              `json:"removed_active,omitempty"`
	Remaining     *int               `json:"remaining_runtimes,omitempty"`
	Runtimes      []lifecycleRuntime `json:"runtimes,omitempty"`
}

type lifecycleRuntime struct {
	RuntimeID  string `json:"runtime_id"`
	TabURL     string `json:"tab_url"`
	LastSeenMS int64  `json:"last_seen_ms"`
}

// add appends a row.
func (l *lifecycle) add(row lifecycleRow) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	row.TSMS = time.Now().UnixMilli()
	line := append(marshal(row), '\n')
	if l.file != nil && l.size+int64(len(line)) > maxLifecycle {
		if err := l.rotate(); err != nil {
			return err
		}
	}
	if l.file == nil {
		if err := l.open(); err != nil {
			return err
		}
	}
	n, err := l.file.Write(line)
	l.size += int64(n)
	return err
}

func (l *lifecycle) open() error {
	root, err := os.OpenRoot(l.root)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Mkdir(lifecycleFolder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := root.OpenFile(lifecycleFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return err
	}
	l.file, l.size = f, info.Size()
	return nil
}

func (l *lifecycle) rotate() error {
	_ = l.file.Close()
	l.file = nil
	root, err := os.OpenRoot(l.root)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.Rename(lifecycleFile, lifecycleOld)
}

func (l *lifecycle) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
}

// lifecycleReasons are upstream's names of reasons.
var lifecycleReasons = map[string]string{"connection_lost": "receive_loop_ended"}

// logged writes what became of a runtime into the log.
func (h *Hub) logged(ch RuntimeChange) {
	if h.lifecycle == nil {
		return
	}
	row := lifecycleRow{
		Event:        "connect",
		RuntimeID:    ch.Runtime.RuntimeID,
		ConnectionID: ch.Connection,
		TabURL:       ch.Runtime.URL,
	}
	if ch.Kind == "removed" {
		reason := ch.Reason
		if theirs, ok := lifecycleReasons[reason]; ok {
			reason = theirs
		}
		h.mu.Lock()
		left := len(h.runtimes)
		h.mu.Unlock()
		row = lifecycleRow{
			Event:         "disconnect",
			Reason:        reason,
			ConnectionID:  ch.Connection,
			RemovedActive: &ch.WasActive,
			Remaining:     &left,
			Runtimes:      []lifecycleRuntime{{ch.Runtime.RuntimeID, ch.Runtime.URL, ch.Runtime.LastSeenMS}},
		}
	}
	if err := h.lifecycle.add(row); err != nil {
		h.log.Warn("the log of the runtimes cannot be written", "error", err)
	}
}
