//go:build !linux

package expr

import "os"

const selfExe = ""

// workerBaseEnv is what a process needs to start at all.
func workerBaseEnv() []string {
	var env []string
	for _, name := range []string{"SystemRoot", "TEMP", "TMP"} {
		if v := os.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// limitMemory watches the heap: this system has no limit on address space that
// it enforces.
func limitMemory(budget int64) { watchMemory(budget) }
