package recent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/internal/background"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Process is a running process that remembers.
type Process struct {
	PID     int       `json:"pid"`
	Verb    string    `json:"verb"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	path    string
}

// Serve gives what is remembered to record save of the same user, until stop. The socket is in a folder that
// nobody else may enter.
func (r *Recent) Serve(ctx context.Context, folder string, p Process) (stop func(), err error) {
	path := filepath.Join(folder, strconv.Itoa(p.PID)+".sock")
	if folder == "" || len(path) > background.MaxSocketPath {
		return nil, fault.New(
			fault.CapabilityUnavailable, "the path of the socket for record save has %d bytes: expected at most %d",
			len(path), background.MaxSocketPath,
		)
	}
	if err := background.PrivateFolder(folder); err != nil {
		return nil, err
	}
	_ = os.Remove(path) // of a process that was killed
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /process", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(p) })
	mux.HandleFunc("GET /recording", func(w http.ResponseWriter, _ *http.Request) {
		r.recorder.Settle()
		_, _ = r.ring.Write(record.NewFile(keptOpen{w})) // what is missing is told by the length of the answer
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: time.Minute}
	var running sync.WaitGroup
	running.Go(func() { _ = server.Serve(l) }) // until Close
	return func() {
		_ = server.Close()
		running.Wait()
	}, nil
}

type keptOpen struct{ io.Writer }

func (keptOpen) Close() error { return nil }

func (p Process) client() *http.Client {
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", p.path)
		},
	}}
}

func (p Process) get(ctx context.Context, what string) (io.ReadCloser, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://outrider"+what, nil)
	if err != nil {
		return nil, err
	}
	answer, err := p.client().Do(q)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		_ = answer.Body.Close()
		return nil, errors.New(answer.Status)
	}
	return answer.Body, nil
}

// Running lists the processes of this user that remember, the one that began last first. Sockets that nobody
// serves are removed.
func Running(ctx context.Context, folder string) []Process {
	paths, err := filepath.Glob(filepath.Join(folder, "*.sock"))
	if err != nil {
		return nil
	}
	var out []Process
	for _, path := range paths {
		p := Process{path: path}
		body, err := p.get(ctx, "/process")
		if err != nil {
			if ctx.Err() == nil {
				_ = os.Remove(path)
			}
			continue
		}
		if json.NewDecoder(io.LimitReader(body, 1<<16)).Decode(&p) == nil {
			out = append(out, p)
		}
		_ = body.Close()
	}
	slices.SortFunc(out, func(a, b Process) int { return b.Started.Compare(a.Started) })
	return out
}

// SaveFrom has a process give what it remembers, and writes it to path. pid is 0 when there is one process.
func SaveFrom(ctx context.Context, folder string, pid int, path string) (Saved, error) {
	var at *Process
	list := Running(ctx, folder)
	for i, p := range list {
		if p.PID == pid || pid == 0 && len(list) == 1 {
			at = &list[i]
		}
	}
	if at == nil {
		return Saved{}, whichProcess(list, pid)
	}
	body, err := at.get(ctx, "/recording")
	if err != nil {
		return Saved{}, fault.Wrap(fault.CapabilityUnavailable, err, "process %d does not answer", at.PID)
	}
	defer body.Close()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return Saved{}, fault.Wrap(fault.InvalidInput, err, "the recording cannot be written to a new file")
	}
	_, err = io.Copy(f, body)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		_ = os.Remove(path)
		return Saved{}, fault.Wrap(fault.CapabilityUnavailable, err, "reading the recording of process %d", at.PID)
	}
	return Describe(path, 0)
}

func whichProcess(list []Process, pid int) error {
	if len(list) == 0 {
		return fault.New(fault.TargetNotFound, "no process of this user remembers what it did").
			Next("outrider mcp, connect and provider do, unless they run with --recent off")
	}
	var lines []string
	for _, p := range list {
		lines = append(
			lines, fmt.Sprintf("%d %s, since %s", p.PID, printable(p.Verb), p.Started.Local().Format("15:04:05")),
		)
	}
	e := fault.New(fault.InvalidInput, "%d processes remember what they did: %s", len(list), strings.Join(lines, "; "))
	if pid != 0 {
		e = fault.New(fault.TargetNotFound, "there is no process %d that remembers: %s", pid, strings.Join(lines, "; "))
	}
	return e.Next("give --pid with one of them")
}
