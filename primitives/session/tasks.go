package session

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// maxTasks bounds a queue; finished tasks count until the queue is cleared.
const maxTasks = 1000

// Tasks is the task queue of one tab, first in first out. The zero value is
// empty and ready.
type Tasks struct {
	mu   sync.Mutex
	last int // number of the newest task; clearing keeps it
	list []task
}

type task struct {
	ID     string  `json:"id"`
	Text   string  `json:"text"`
	Status string  `json:"status"` // pending, in_progress, done, failed
	Result *string `json:"result"`
}

// taskSummary is the whole queue after a call.
type taskSummary struct {
	Total     int    `json:"total"`
	Completed int    `json:"completed"`
	Failed    int    `json:"failed"`
	Pending   int    `json:"pending"` // not finished: the one in progress too
	Tasks     []task `json:"tasks"`
}

// summary counts under the lock.
func (q *Tasks) summary() taskSummary {
	s := taskSummary{Total: len(q.list), Tasks: append([]task{}, q.list...)}
	for _, t := range q.list {
		switch t.Status {
		case "done":
			s.Completed++
		case "failed":
			s.Failed++
		case "pending", "in_progress":
			s.Pending++
		}
	}
	return s
}

func (q *Tasks) with(status string) *task {
	for i := range q.list {
		if q.list[i].Status == status {
			return &q.list[i]
		}
	}
	return nil
}

type taskAddIn struct {
	Text  *string  `json:"text"`
	Tasks []string `json:"tasks"` // wins over Text
}

type taskAddOut struct {
	Added []task `json:"added"`
	taskSummary
}

// taskAdd stops at a blank task; those before it stay.
var taskAdd = primitives.Define("task.add", func(
	_ context.Context, p primitives.Page, in taskAddIn,
) (taskAddOut, error) {
	q, err := tasksOf(p, "task.add")
	if err != nil {
		return taskAddOut{}, err
	}
	texts := in.Tasks
	if texts == nil && in.Text != nil {
		texts = []string{*in.Text}
	}
	if len(texts) == 0 {
		return taskAddOut{}, fault.New(fault.InvalidTask, "text or tasks is needed")
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	out := taskAddOut{Added: []task{}}
	for i, text := range texts {
		text = strings.TrimSpace(text)
		if text == "" {
			return taskAddOut{}, fault.New(fault.InvalidTask, "a task needs text").
				With("index", i).With("added", len(out.Added))
		}
		if len(q.list) >= maxTasks {
			return taskAddOut{}, fault.New(fault.QueueFull, "the queue has %d tasks", maxTasks).
				With("index", i).With("added", len(out.Added)).
				Next("take results out and call task.clear")
		}
		q.last++
		t := task{ID: "task-" + strconv.Itoa(q.last), Text: text, Status: "pending"}
		q.list = append(q.list, t)
		out.Added = append(out.Added, t)
	}
	out.taskSummary = q.summary()
	return out, nil
})

type taskNextOut struct {
	Done      bool  `json:"done"`
	Task      *task `json:"task,omitempty"`
	Remaining int   `json:"remaining"` // pending ones
	*taskSummary
}

// taskNext gives the task in progress again until it is completed.
var taskNext = primitives.Define("task.next", func(
	_ context.Context, p primitives.Page, _ struct{},
) (taskNextOut, error) {
	q, err := tasksOf(p, "task.next")
	if err != nil {
		return taskNextOut{}, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	t := q.with("in_progress")
	if t == nil {
		t = q.with("pending")
		if t == nil {
			s := q.summary()
			return taskNextOut{Done: true, taskSummary: &s}, nil
		}
		t.Status = "in_progress"
	}
	given := *t
	return taskNextOut{Task: &given, Remaining: q.summary().Pending - 1}, nil
})

type taskCompleteIn struct {
	ID     *string `json:"id"`
	Status string  `json:"status"`
	Result *string `json:"result"`
}

type taskCompleteOut struct {
	Task task `json:"task"`
	taskSummary
}

var taskComplete = primitives.Define("task.complete", func(
	_ context.Context, p primitives.Page, in taskCompleteIn,
) (taskCompleteOut, error) {
	q, err := tasksOf(p, "task.complete")
	if err != nil {
		return taskCompleteOut{}, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	var t *task
	if in.ID == nil || *in.ID == "" {
		t = q.with("in_progress")
		if t == nil {
			return taskCompleteOut{}, fault.New(fault.NoActiveTask, "no task is in progress").
				Next("call task.next, or give an id")
		}
	} else {
		for i := range q.list {
			if q.list[i].ID == *in.ID {
				t = &q.list[i]
			}
		}
		if t == nil {
			return taskCompleteOut{}, fault.New(fault.UnknownTask, "no task has this id").With("id", *in.ID)
		}
	}
	t.Status = "done"
	if in.Status != "" {
		t.Status = in.Status
	}
	t.Result = in.Result
	return taskCompleteOut{*t, q.summary()}, nil
})

var taskList = primitives.Define("task.list", func(
	_ context.Context, p primitives.Page, _ struct{},
) (taskSummary, error) {
	q, err := tasksOf(p, "task.list")
	if err != nil {
		return taskSummary{}, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.summary(), nil
})

type taskClearOut struct {
	Cleared bool `json:"cleared"`
	taskSummary
}

var taskClear = primitives.Define("task.clear", func(
	_ context.Context, p primitives.Page, _ struct{},
) (taskClearOut, error) {
	q, err := tasksOf(p, "task.clear")
	if err != nil {
		return taskClearOut{}, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = nil
	return taskClearOut{true, q.summary()}, nil
})

func tasksOf(p primitives.Page, primitive string) (*Tasks, error) {
	s, err := Of(p, primitive, "tasks")
	if err != nil {
		return nil, err
	}
	return s.Tasks(), nil
}
