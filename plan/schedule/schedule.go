// Package schedule decides which test cases a run has, which of them belong to a shard,
// in which order they start and on which worker, and how often they are repeated. It
// knows neither browsers nor plans: a case is a number. Package plan calls it for the
// workers of one machine, and a fleet can with workers of many.
package schedule

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Job is what is known of a case before it runs.
type Job struct {
	ID   string // the same in every run
	Name string
	Tags []string
	// Cost is how long it took last; 0 is unknown.
	Cost time.Duration
}

// Filter selects jobs by regular expressions over their names and tags.
type Filter struct{ include, exclude *regexp.Regexp }

// NewFilter reads --grep and --grep-invert; "" selects all, or excludes none.
func NewFilter(include, exclude string) (Filter, error) {
	var f Filter
	for _, one := range []struct {
		text string
		to   **regexp.Regexp
	}{{include, &f.include}, {exclude, &f.exclude}} {
		if one.text == "" {
			continue
		}
		re, err := regexp.Compile(one.text)
		if err != nil {
			return f, fmt.Errorf("%q is no regular expression: %w", one.text, err)
		}
		*one.to = re
	}
	return f, nil
}

// Selects reports whether a job is selected.
func (f Filter) Selects(j Job) bool {
	is := func(re *regexp.Regexp) bool {
		return re.MatchString(j.Name) ||
			slices.ContainsFunc(j.Tags, func(tag string) bool { return re.MatchString(tag) || re.MatchString("@"+tag) })
	}
	return (f.include == nil || is(f.include)) && (f.exclude == nil || !is(f.exclude))
}

// Part is one shard of several, from 1.
type Part struct{ Index, Of int }

// ParsePart reads I/N; "" is the whole.
func ParsePart(text string) (Part, error) {
	if text == "" {
		return Part{1, 1}, nil
	}
	index, of, ok := strings.Cut(text, "/")
	i, err := strconv.Atoi(index)
	n, err2 := strconv.Atoi(of)
	numbers := ok && err == nil && err2 == nil
	if !numbers || i < 1 || n < i || n > 10_000 {
		return Part{}, fmt.Errorf("%q is no shard: expected I/N, such as 1/8", text)
	}
	return Part{i, n}, nil
}

// Shard returns the numbers of the jobs of one part, in their order. The parts take
// about the same time by the costs that are known; together they have every job once.
// A job without a cost counts as the average one.
func Shard(jobs []Job, p Part) []int {
	costs := withAverage(jobs)
	order := make([]int, len(jobs))
	for i := range order {
		order[i] = i
	}
	// The longest first, each to the part that has the least: every machine comes to
	// the same result, whatever the order of its file system.
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(costs[b], costs[a]), cmp.Compare(jobs[a].ID, jobs[b].ID))
	})
	load := make([]time.Duration, max(1, p.Of))
	count := make([]int, len(load))
	var own []int
	for _, job := range order {
		least := 0
		for i := range load {
			if load[i] < load[least] || load[i] == load[least] && count[i] < count[least] {
				least = i
			}
		}
		load[least] += costs[job]
		count[least]++
		if least == p.Index-1 {
			own = append(own, job)
		}
	}
	slices.Sort(own)
	return own
}

func withAverage(jobs []Job) []time.Duration {
	var sum time.Duration
	known := 0
	for _, j := range jobs {
		if j.Cost > 0 {
			sum += j.Cost
			known++
		}
	}
	average := time.Second
	if known > 0 {
		average = sum / time.Duration(known)
	}
	out := make([]time.Duration, len(jobs))
	for i, j := range jobs {
		out[i] = cmp.Or(j.Cost, average)
	}
	return out
}

// Options say how jobs are run.
type Options struct {
	Workers int // default 1
	// FailFast starts no more jobs after one has failed for good.
	FailFast bool
	// Retries is how often a job is run again that failed; nil is never.
	Retries func(job int) int
}

// Run runs each job and returns when all that it started have ended. run says whether
// the job is well; it is called with the number of the worker from 0 and of the attempt
// from 1. Jobs start in their order, or the longest first when there are several
// workers and their costs are known. The result says which were started.
func Run(
	ctx context.Context, jobs []Job, o Options, run func(ctx context.Context, worker, job, attempt int) bool,
) (started []bool) {
	started = make([]bool, len(jobs))
	order := make([]int, len(jobs))
	for i := range order {
		order[i] = i
	}
	workers := min(max(1, o.Workers), max(1, len(jobs)))
	if workers > 1 {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(jobs[b].Cost, jobs[a].Cost) })
	}
	var mu sync.Mutex
	next, failed := 0, false
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == len(order) || ctx.Err() != nil || failed && o.FailFast {
			return 0, false
		}
		job := order[next]
		next++
		started[job] = true
		return job, true
	}
	var all sync.WaitGroup
	for worker := range workers {
		all.Go(func() {
			for {
				job, ok := take()
				if !ok {
					return
				}
				attempts := 1
				if o.Retries != nil {
					attempts += max(0, o.Retries(job))
				}
				well := false
				for n := 1; n <= attempts && !well && (n == 1 || ctx.Err() == nil); n++ {
					well = run(ctx, worker, job, n)
				}
				if !well {
					mu.Lock()
					failed = true
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	return started
}
