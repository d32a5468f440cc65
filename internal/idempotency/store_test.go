package idempotency_test

import (
	"strconv"
	"sync"
	"testing"

	"github.com/outrider-run/outrider/internal/idempotency"
)

type answer struct {
	text string
	size int
}

func (a answer) Size() int   { return a.size }
func (a answer) Cut() answer { return answer{text: "cut"} }

func TestACallThatComesAgain(t *testing.T) {
	var s idempotency.Store[answer]
	first, _, found := s.Begin("k", 1, answer{text: "running"})
	if found != idempotency.New {
		t.Fatalf("the first call: %v", found)
	}
	if _, _, found := s.Begin("k", 2, answer{}); found != idempotency.Other {
		t.Errorf("other arguments: %v", found)
	}
	again, _, found := s.Begin("k", 1, answer{})
	if found != idempotency.Running {
		t.Fatalf("while it runs: %v", found)
	}
	var told []string
	again.Wait(func(a answer) { told = append(told, "first "+a.text) })
	first.End(answer{text: "done"})
	again.Wait(func(a answer) { told = append(told, "late "+a.text) })
	if len(told) != 2 || told[0] != "first done" || told[1] != "late done" {
		t.Errorf("told %q", told)
	}
	if _, a, found := s.Begin("k", 1, answer{}); found != idempotency.Ended || a.text != "done" {
		t.Errorf("afterwards: %v %q", found, a.text)
	}
}

func TestACallThatDidNothingFreesItsKey(t *testing.T) {
	var s idempotency.Store[answer]
	e, _, _ := s.Begin("k", 1, answer{})
	told := ""
	e.Wait(func(a answer) { told = a.text })
	e.Free(answer{text: "refused"})
	if told != "refused" {
		t.Errorf("told %q", told)
	}
	if _, _, found := s.Begin("k", 2, answer{}); found != idempotency.New {
		t.Errorf("the key is not free: %v", found)
	}
}

func TestValuesAreCutAndKeysAreBounded(t *testing.T) {
	var s idempotency.Store[answer]
	for i := range idempotency.Most + 10 {
		e, _, _ := s.Begin(strconv.Itoa(i), 1, answer{})
		e.End(answer{text: "whole", size: 1 << 20})
	}
	if got := len(s.Values(func(string) bool { return true })); got > idempotency.Most {
		t.Errorf("%d calls are known", got)
	}
	if _, _, found := s.Begin("0", 1, answer{}); found != idempotency.New {
		t.Errorf("the oldest is still known: %v", found)
	}
	if _, a, _ := s.Begin(strconv.Itoa(idempotency.Most+9), 1, answer{}); a.text != "whole" {
		t.Errorf("the newest is %q", a.text)
	}
	if _, a, found := s.Begin("100", 1, answer{}); found != idempotency.Ended || a.text != "cut" {
		t.Errorf("an old one: %v %q", found, a.text)
	}
}

func TestManyAtOnceActOnce(t *testing.T) {
	var s idempotency.Store[answer]
	var all sync.WaitGroup
	var mu sync.Mutex
	acted, told := 0, 0
	for range 100 {
		all.Go(func() {
			e, a, found := s.Begin("k", 1, answer{})
			count := func(answer) {
				mu.Lock()
				defer mu.Unlock()
				told++
			}
			switch found {
			case idempotency.New:
				mu.Lock()
				acted++
				mu.Unlock()
				e.End(answer{text: "done"})
				count(answer{})
			case idempotency.Running:
				e.Wait(count)
			default:
				count(a)
			}
		})
	}
	all.Wait()
	if acted != 1 || told != 100 {
		t.Errorf("acted %d times, told %d", acted, told)
	}
}
