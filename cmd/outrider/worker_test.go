package main

import (
	"slices"
	"testing"
	"time"

	"github.com/outrider-run/outrider/plan/remote"
)

// What one job brings is gone with it: the worker's settings, and those of the next job, are as they were.
func TestJobSettingsAreOfOneJob(t *testing.T) {
	worker := hostSettings{callLimit: time.Minute}
	worker.locale = "de-DE"
	worker.blockOrigins = append(make([]string, 0, 4), "https://ads.example")
	jobs := make([]hostSettings, 2)
	for i, origin := range []string{"https://one.example", "https://two.example"} {
		var err error
		jobs[i], err = jobSettings(worker, remote.Request{
			Maps: []string{origin},
			Settings: remote.Settings{
				Open:         []string{origin},
				Locale:       "en-GB",
				BlockOrigins: []string{origin},
				CallTimeout:  time.Second,
			},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"https://ads.example", "https://one.example"}; !slices.Equal(jobs[0].blockOrigins, want) {
		t.Errorf("the first job blocks %v, want %v", jobs[0].blockOrigins, want)
	}
	if jobs[0].locale != "en-GB" || jobs[0].callLimit != time.Second || jobs[1].open[0] != "https://two.example" {
		t.Errorf("the jobs have %+v and %+v", jobs[0], jobs[1])
	}
	if worker.locale != "de-DE" || worker.callLimit != time.Minute || worker.maps != nil || worker.open != nil {
		t.Errorf("the worker has %+v", worker)
	}
}
