package bridgeclient_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/bridgeclient"
)

func TestPiggybackedAnnouncements(t *testing.T) {
	record := func(members string) string { return `{"tab":1,"runtime_key":"k",` + members + `}` }
	many := func(n, length int) (list []string) {
		for i := range n {
			list = append(list, record(
				fmt.Sprintf(`"region":"r%d","politeness":"assertive","text":"%s"`, i, strings.Repeat("x", length)),
			))
		}
		return list
	}
	for _, c := range []struct {
		name    string
		records []string
		want    []int // records in each result that follows, until one has none
	}{
		{"nothing", nil, nil},
		{"assertive rides by default, polite and unsaid do not", []string{
			record(`"region":"a","politeness":"assertive","text":"one"`),
			record(`"region":"b","politeness":"polite","text":"two"`), record(`"region":"c","text":"three"`),
		}, []int{1}},
		{"what the runtime says wins", []string{
			record(`"region":"a","politeness":"assertive","delivery":"buffer","text":"one"`),
			record(`"region":"b","politeness":"polite","delivery":"inject","text":"two"`),
			record(`"region":"c","politeness":"assertive","delivery":"off","text":"three"`),
		}, []int{1}},
		{"five in a result", many(12, 3), []int{5, 5, 2}},
		{"1,200 bytes of text in a result", many(4, 500), []int{2, 2}},
		{"one always fits", many(2, 5000), []int{1, 1}},
		{"a region that speaks again takes back", []string{
			record(`"region":"a","politeness":"assertive","text":"one"`),
			record(`"region":"b","politeness":"assertive","text":"other"`),
			record(`"region":"a","politeness":"assertive","text":"two"`),
		}, []int{2}},
		{"unless it is a log", []string{
			record(`"region":"a","region_role":"log","politeness":"assertive","text":"one"`),
			record(`"region":"a","region_role":"log","politeness":"assertive","text":"two"`),
		}, []int{2}},
		{"or only adds", []string{
			record(`"region":"a","relevant":"additions","politeness":"assertive","text":"one"`),
			record(`"region":"a","relevant":"additions","politeness":"assertive","text":"two"`),
		}, []int{2}},
		{"a repetition is dropped", []string{
			record(`"region":"a","region_role":"log","politeness":"assertive","text":"one"`),
			record(`"region":"a","region_role":"log","politeness":"assertive","text":"one"`),
		}, []int{1}},
		{"tabs are distinguished", []string{
			`{"tab":1,"region":"a","politeness":"assertive","text":"one"}`,
			`{"tab":2,"region":"a","politeness":"assertive","text":"two"}`,
		}, []int{2}},
		{"a tab may be anything", []string{
			`{"tab":{"id":1},"region":"a","politeness":"assertive","text":"one"}`,
			`{"tab":{"id":1},"region":"a","politeness":"assertive","text":"two"}`,
		}, []int{1}},
		{
			"what is no record is left out",
			[]string{`null`, `7`, `{"text":7}`, `{"politeness":"assertive","text":""}`, ``}, nil,
		},
		{"the oldest of too many goes", many(310, 3), repeat(60, 5)},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r bridgeclient.Piggybacked
			for _, rec := range c.records {
				r.Add("", json.RawMessage(rec))
			}
			if other := r.Take("somebody else"); other != nil {
				t.Errorf("another reader got %s", other)
			}
			var got []int
			for {
				list := r.Take("")
				if len(list) == 0 {
					break
				}
				got = append(got, len(list))
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("records in each result: %v, want %v", got, c.want)
			}
		})
	}
}

func repeat(n, what int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = what
	}
	return list
}

func TestPiggybackedAnnouncementsAreForgotten(t *testing.T) {
	var r bridgeclient.Piggybacked
	r.Add("a", json.RawMessage(`{"politeness":"assertive","text":"one"}`))
	r.Forget("a")
	if list := r.Take("a"); list != nil {
		t.Errorf("after Forget: %s", list)
	}
}
