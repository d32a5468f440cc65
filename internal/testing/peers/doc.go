// Package peers holds the comparison with the upstream extension over its own bridge.
// It has no code of the program and judges no result. make peers calls its test.
package peers
