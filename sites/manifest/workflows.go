package manifest

import (
	"encoding/json"
	"runtime"
	"sync"
)

type checkedWorkflow struct{ problems, warnings []Problem }

// checkWorkflows checks the workflows of all tools on all processors, before the
// tools are read: with their expressions they are most of the work of a large
// map.
func (c *checker) checkWorkflows(root *node) {
	tools := root.member("tools")
	if c.opts.CheckWorkflow == nil || tools == nil || tools.kind != kindArray {
		return
	}
	var jobs []*node
	for _, t := range tools.kids {
		if t.kind != kindObject {
			continue
		}
		if w := t.member("workflow"); w != nil && w.kind == kindObject {
			jobs = append(jobs, w)
		}
	}
	results := make([]checkedWorkflow, len(jobs))
	check := func(i int) {
		n := jobs[i]
		results[i].problems, results[i].warnings = c.opts.CheckWorkflow(json.RawMessage(c.src[n.start:n.end:n.end]))
	}
	EachOf(len(jobs), check)
	c.workflows = make(map[*node]checkedWorkflow, len(jobs))
	for i, n := range jobs {
		c.workflows[n] = results[i]
	}
}

// EachOf calls do with 0 to n-1, on all processors when there is enough to do.
func EachOf(n int, do func(int)) {
	workers := min(runtime.GOMAXPROCS(0), n/16)
	if workers < 2 {
		for i := range n {
			do(i)
		}
		return
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				do(i)
			}
		})
	}
	wg.Wait()
}
