// Package fleet has the messages of a fleet: jobs, what is recorded of them, what
// workers say of themselves. It runs nothing, speaks to no server and knows neither
// plans nor browsers. The packages below it, the command and programs that embed a
// fleet use it.
package fleet

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/primitives/fault"
)

// The contract that this program writes, and the oldest it still reads. Programs of
// different versions share a fleet as long as these ranges meet: a worker leaves a
// job of another contract in the queue for one that knows it.
const (
	Contract       = 1
	OldestContract = 1
)

// Understands reports whether this program can read what was written under a contract.
func Understands(contract int) bool { return contract >= OldestContract && contract <= Contract }

// Priority decides between the jobs of one queue.
type Priority string

// The priorities, most urgent first. A job waits while its queue has more urgent ones.
const (
	High   Priority = "high"
	Normal Priority = "normal"
	Low    Priority = "low"
)

// Priorities are all of them, most urgent first.
var Priorities = []Priority{High, Normal, Low}

// OnLoss says what follows when the worker of a job is lost after the job had begun
// to act.
type OnLoss string

const (
	// FailOnLoss ends the job as worker_lost. It is the default: whether the last
	// step was done is not known.
	FailOnLoss OnLoss = "fail"
	// RerunOnLoss runs the job again: its author declares that doing everything
	// twice is the same as doing it once.
	RerunOnLoss OnLoss = "rerun"
)

// Defaults of a job.
const (
	DefaultQueue   = "default"
	DefaultTries   = 3
	DefaultTimeout = 10 * time.Minute
)

// Job is one piece of work. What its payload means is between the submitter and the
// runner of the worker.
type Job struct {
	Contract int    `json:"contract"`
	Run      string `json:"run"` // the submission it belongs to
	ID       string `json:"id"`  // unique in its run
	Name     string `json:"name,omitempty"`
	// Kind says which runner it is for.
	Kind  string `json:"kind"`
	Queue string `json:"queue"`

	Priority Priority `json:"priority"`
	// Labels are those that a worker must have.
	Labels map[string]string `json:"labels,omitempty"`
	// Deadline is when the job ends as job_expired, wherever it is. Timeout bounds
	// one try.
	Deadline time.Time     `json:"deadline,omitzero"`
	Timeout  time.Duration `json:"timeout"`
	// Tries is how many workers may be lost under the job.
	Tries  int    `json:"tries"`
	OnLoss OnLoss `json:"on_loss"`

	Payload json.RawMessage `json:"payload,omitempty"`
	// PayloadAt and Files are in the fleet's object store.
	PayloadAt *Object           `json:"payload_at,omitempty"`
	Files     map[string]Object `json:"files,omitempty"`

	SubmittedAt time.Time `json:"submitted_at"`
	Trace       string    `json:"trace,omitempty"` // W3C traceparent of the submitter
}

// Object is a file in the fleet's object store.
type Object struct {
	Name   string `json:"name"`
	Size   uint64 `json:"size"`
	SHA256 string `json:"sha256"`
}

// Key names the job in the whole fleet.
func (j Job) Key() string { return j.Run + "." + j.ID }

var name = lazyregexp.New(`^[A-Za-z0-9_-]{1,64}$`)

// ValidName reports whether text can name a run, a job, a queue, a worker or a label.
func ValidName(text string) bool { return name().MatchString(text) }

// Prepare fills what a job leaves out and refuses what cannot be sent.
func (j *Job) Prepare(now time.Time) error {
	j.Contract = Contract
	if j.Queue == "" {
		j.Queue = DefaultQueue
	}
	if j.Priority == "" {
		j.Priority = Normal
	}
	if j.OnLoss == "" {
		j.OnLoss = FailOnLoss
	}
	if j.Tries == 0 {
		j.Tries = DefaultTries
	}
	if j.Timeout == 0 {
		j.Timeout = DefaultTimeout
	}
	if j.SubmittedAt.IsZero() {
		j.SubmittedAt = now.UTC()
	}
	for what, text := range map[string]string{"run": j.Run, "job": j.ID, "queue": j.Queue, "kind": j.Kind} {
		if !ValidName(text) {
			return fault.New(
				fault.InvalidInput, "the name of the %s is %q: expected 1 to 64 letters, digits, - and _", what, text,
			)
		}
	}
	for k, v := range j.Labels {
		if !validLabelName().MatchString(k) || !validLabel().MatchString(v) {
			return fault.New(fault.InvalidInput, "the label %s=%s: expected a name of letters, digits, -, _ and ., "+
				"and a value of at most 64 of them, or .", k, v)
		}
	}
	switch {
	case !slices.Contains(Priorities, j.Priority):
		return fault.New(fault.InvalidInput, "the priority is %q: expected high, normal or low", j.Priority)
	case j.OnLoss != FailOnLoss && j.OnLoss != RerunOnLoss:
		return fault.New(fault.InvalidInput, "on_loss is %q: expected fail or rerun", j.OnLoss)
	case j.Tries < 1 || j.Tries > 100:
		return fault.New(fault.InvalidInput, "tries is %d: expected 1 to 100", j.Tries)
	case j.Timeout < 0:
		return fault.New(fault.InvalidInput, "timeout is %s: expected a positive duration", j.Timeout)
	}
	return nil
}

// A name of a label can be that of a secret, after a word.
var validLabelName = lazyregexp.New(`^[A-Za-z0-9_.-]{1,80}$`)

var validLabel = lazyregexp.New(`^[A-Za-z0-9_.-]{0,64}$`)

// ParseLabels reads labels of the form name=value.
func ParseLabels(texts []string) (map[string]string, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	out := map[string]string{}
	for _, text := range texts {
		k, v, ok := strings.Cut(text, "=")
		if !ok || !validLabelName().MatchString(k) || !validLabel().MatchString(v) {
			return nil, fault.New(
				fault.InvalidInput, "the label is %q: expected NAME=VALUE of letters, digits, -, _ and .", text,
			)
		}
		out[k] = v
	}
	return out, nil
}

// LabelText is labels in one line, in order.
func LabelText(labels map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, k+"="+labels[k])
	}
	return strings.Join(parts, ",")
}

// Satisfies reports whether a worker has the labels that a job requires.
func Satisfies(has, requires map[string]string) bool {
	for k, v := range requires {
		if has[k] != v {
			return false
		}
	}
	return true
}

// Phase is where a job is, as the one record of it says.
type Phase string

const (
	// Running: a worker holds it, and has done nothing that cannot be repeated.
	Running Phase = "running"
	// Acting: it has begun to change something.
	Acting Phase = "acting"
	// Waiting: its worker gave it back, or was lost, and another one may take it.
	Waiting Phase = "waiting"
	// Done: its outcome is recorded.
	Done Phase = "done"
)

// Record is the one record of a job. It is replaced only by who knows its
// revision, so two workers can never both believe that a job is theirs.
type Record struct {
	Contract int    `json:"contract"`
	Run      string `json:"run"`
	ID       string `json:"id"`
	Name     string `json:"name,omitempty"`
	Queue    string `json:"queue,omitempty"`
	Phase    Phase  `json:"phase"`
	Try      int    `json:"try"`
	// Worker holds the job, or held it last.
	Worker string `json:"worker,omitempty"`
	// Step is the one with which the job began to act.
	Step *Step `json:"step,omitempty"`
	// Losses are the tries that were lost.
	Losses  []Loss    `json:"losses,omitempty"`
	At      time.Time `json:"at"`
	BeganAt time.Time `json:"began_at,omitzero"`
	Outcome *Outcome  `json:"outcome,omitempty"`
	// Write tells this write from every other, so that a writer whose answer was
	// lost recognizes its own.
	Write string `json:"write"`
}

// Loss is a try that ended without a result.
type Loss struct {
	Worker string    `json:"worker"`
	Try    int       `json:"try"`
	Reason string    `json:"reason"`
	Step   *Step     `json:"step,omitempty"` // the last one that was seen
	At     time.Time `json:"at"`
}

// Step says where a job is.
type Step struct {
	Name   string `json:"name"`
	Number int    `json:"number,omitempty"`
	Of     int    `json:"of,omitempty"`
	Call   string `json:"call,omitempty"` // what it was about to do
}

// Outcome is how a job ended.
type Outcome struct {
	OK bool `json:"ok"`
	// Error is why there is no result: the job could not be run, was cancelled,
	// expired or lost. A job that ran and failed has a result.
	Error    *fault.Error    `json:"error,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"`
	ResultAt *Object         `json:"result_at,omitempty"`
	// Files are what the job made, in the object store.
	Files      map[string]Object `json:"files,omitempty"`
	DurationMS int64             `json:"duration_ms"`
	// Signature is of the worker, over the result and the files.
	Signature string `json:"signature,omitempty"`
}

// Event is something that a running job reports.
type Event struct {
	Run  string    `json:"run"`
	ID   string    `json:"id"`
	Try  int       `json:"try"`
	At   time.Time `json:"at"`
	Kind string    `json:"kind"` // begins, step, text
	Step *Step     `json:"step,omitempty"`
	Text string    `json:"text,omitempty"`
}

// Worker is what a worker says of itself.
type Worker struct {
	ID       string            `json:"id"`
	Contract int               `json:"contract"`
	Oldest   int               `json:"oldest_contract"`
	Version  string            `json:"version"`
	Host     string            `json:"host,omitempty"`
	Profile  string            `json:"profile,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
	Kinds    []string          `json:"kinds,omitempty"`
	Sessions []string          `json:"sessions,omitempty"` // kinds of session it serves
	Slots    int               `json:"slots"`
	Busy     int               `json:"busy"`
	Held     int               `json:"held_sessions"`
	Maps     int               `json:"maps"`
	Draining bool              `json:"draining,omitempty"`
	Load     float64           `json:"load"` // of the machine, one minute
	MemoryMB int64             `json:"memory_mb"`
	Since    time.Time         `json:"since"`
	At       time.Time         `json:"at"`
}

// Encode is v as JSON. Text of a page stays as it is: no character is escaped that
// JSON allows.
func Encode(v any) (json.RawMessage, error) {
	text, err := jsonout.Line(v)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "encoding for the fleet")
	}
	return text, nil
}
