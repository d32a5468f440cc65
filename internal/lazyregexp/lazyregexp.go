// Package lazyregexp compiles the regular expressions of packages when they are first used: together they would cost
// each start of the command a millisecond. It is for expressions of our own alone, as it panics at one that does
// not compile. Packages that keep one in a variable call it.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New gives an expression, compiled at the first call.
func New(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
