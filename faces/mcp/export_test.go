package mcp

import (
	"fmt"
	"maps"
	"slices"

	"github.com/outrider-run/outrider/runtime"
)

// Report sends n steps to a client that takes the first one only when all have been sent,
// and returns what it was sent when the call had ended.
func Report(n int) (sent []string) {
	all := make(chan struct{})
	r := startReporter(func(n float64, message string) {
		<-all
		sent = append(sent, fmt.Sprintf("%v: %s", n, message))
	})
	for i := range n {
		r.progress(runtime.Progress{Step: fmt.Sprint(i)})
	}
	close(all)
	r.end()
	r.progress(runtime.Progress{Step: "after the end"})
	return sent
}

// ListedNames are the names under which tools of these names are listed together.
func ListedNames(own map[string]string) map[string]string {
	return listedNames(slices.Collect(maps.Keys(own)), func(string) bool { return false })
}
