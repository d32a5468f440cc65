package schedule_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider/plan/schedule"
)

func jobs(n int, cost func(i int) time.Duration) []schedule.Job {
	out := make([]schedule.Job, n)
	for i := range out {
		out[i] = schedule.Job{ID: fmt.Sprintf("plans/%03d.yaml", i), Name: fmt.Sprint("case ", i), Cost: cost(i)}
	}
	return out
}

func TestShardsHaveEveryJobOnceAndTakeTheSameTime(t *testing.T) {
	for name, cost := range map[string]func(int) time.Duration{
		"unknown": func(int) time.Duration { return 0 },
		"uneven":  func(i int) time.Duration { return time.Duration(1+i*i%97) * time.Second },
		"partly":  func(i int) time.Duration { return time.Duration(i%3) * time.Second },
	} {
		all := jobs(200, cost)
		var seen []int
		var least, most time.Duration
		for i := range 8 {
			own := schedule.Shard(all, schedule.Part{Index: i + 1, Of: 8})
			if !slices.IsSorted(own) {
				t.Errorf("%s: shard %d is not in order", name, i+1)
			}
			seen = append(seen, own...)
			var sum time.Duration
			for _, j := range own {
				sum += all[j].Cost
				if all[j].Cost == 0 {
					sum += time.Second
				}
			}
			if i == 0 || sum < least {
				least = sum
			}
			most = max(most, sum)
		}
		slices.Sort(seen)
		if len(seen) != 200 || len(slices.Compact(seen)) != 200 {
			t.Errorf("%s: the shards have %d jobs", name, len(seen))
		}
		if name != "partly" && float64(most) > 1.1*float64(least) {
			t.Errorf("%s: one shard takes %s, another %s", name, least, most)
		}
	}
}

func TestShardsDoNotDependOnTheOrderOfJobs(t *testing.T) {
	all := jobs(50, func(i int) time.Duration { return time.Duration(i%7) * time.Second })
	ids := func(all []schedule.Job) []string {
		var out []string
		for _, i := range schedule.Shard(all, schedule.Part{Index: 2, Of: 3}) {
			out = append(out, all[i].ID)
		}
		slices.Sort(out)
		return out
	}
	want := ids(all)
	slices.Reverse(all)
	if got := ids(all); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestParsePart(t *testing.T) {
	for text, ok := range map[string]bool{
		"": true, "1/1": true, "3/8": true, "0/8": false, "9/8": false,
		"1": false, "a/b": false, "1/0": false, "-1/2": false, "1/2/3": false,
	} {
		if _, err := schedule.ParsePart(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestFilter(t *testing.T) {
	job := schedule.Job{Name: "Sign in [2: ada]", Tags: []string{"smoke", "slow"}}
	for _, c := range []struct {
		include, exclude string
		want             bool
	}{
		{"", "", true},
		{"smoke", "", true},
		{"@smoke", "", true},
		{"^slow$", "", true},
		{"Sign in", "", true},
		{"none", "", false},
		{"", "slow", false},
		{"smoke", "slow", false},
		{"", "none", true},
	} {
		f, err := schedule.NewFilter(c.include, c.exclude)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Selects(job); got != c.want {
			t.Errorf("%q without %q: %v", c.include, c.exclude, got)
		}
	}
	if _, err := schedule.NewFilter("(", ""); err == nil {
		t.Error("a broken expression passes")
	}
}

func TestRunUsesItsWorkersAndRetries(t *testing.T) {
	all := jobs(20, func(int) time.Duration { return 0 })
	var mu sync.Mutex
	attempts := map[int]int{}
	busy := map[int]bool{}
	entered := 0
	together := make(chan struct{})
	started := schedule.Run(t.Context(), all, schedule.Options{Workers: 4, Retries: func(int) int { return 2 }}, func(
		_ context.Context, worker, job, attempt int,
	) bool {
		mu.Lock()
		if busy[worker] {
			t.Errorf("the worker %d has two jobs", worker)
		}
		busy[worker] = true
		attempts[job]++
		if attempts[job] != attempt {
			t.Errorf("job %d: attempt %d is called %d", job, attempts[job], attempt)
		}
		if job < 4 && attempt == 1 {
			if entered++; entered == 4 {
				close(together)
			}
		}
		mu.Unlock()
		if job < 4 && attempt == 1 { // the first four run at once: none ends before all have begun
			<-together
		}
		mu.Lock()
		busy[worker] = false
		mu.Unlock()
		return job%5 != 0 || attempt == 2+job%2
	})
	for i := range all {
		want := 1
		if i%5 == 0 {
			want = 2 + i%2
		}
		if attempts[i] != want || !started[i] {
			t.Errorf("job %d: %d attempts, want %d", i, attempts[i], want)
		}
	}
}

func TestFailFastStartsNoMore(t *testing.T) {
	all := jobs(20, func(int) time.Duration { return 0 })
	ran := 0
	started := schedule.Run(t.Context(), all, schedule.Options{FailFast: true}, func(
		_ context.Context, _, job, _ int,
	) bool {
		ran++
		return job != 3
	})
	if ran != 4 || !started[3] || started[4] {
		t.Errorf("%d jobs ran", ran)
	}
}

func TestLongJobsStartFirst(t *testing.T) {
	all := jobs(6, func(i int) time.Duration { return time.Duration(i) * time.Second })
	var mu sync.Mutex
	var order []int
	both := make(chan struct{})
	schedule.Run(t.Context(), all, schedule.Options{Workers: 2}, func(_ context.Context, _, job, _ int) bool {
		mu.Lock()
		order = append(order, job)
		if len(order) == 2 {
			close(both)
		}
		mu.Unlock()
		<-both // neither takes a second job before the other has begun its first
		return true
	})
	if first := order[:2]; !slices.Contains(first, 5) || !slices.Contains(first, 4) {
		t.Errorf("the order is %v", order)
	}
}
