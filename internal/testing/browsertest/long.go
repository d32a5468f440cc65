package browsertest

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// LongEnv makes the tests run in their long form when it is "1", as make test-long does.
const LongEnv = "OUTRIDER_LONG"

// ChangedEnv names the files, from the root of the repository, whose cases the short form of the tests has.
const ChangedEnv = "OUTRIDER_CHANGED"

// Long reports whether the tests run in their long form: what is proven by some cases is shown by all, and what runs on
// one browser runs on both.
func Long() bool { return os.Getenv(LongEnv) == "1" }

// OnlyLong skips a test that repeats what others prove, where the tests do not run in their long form.
func OnlyLong(tb testing.TB) {
	tb.Helper()
	if !Long() {
		tb.Skip("only in make test-long")
	}
}

// shortOf is of how many cases of a table the short form has one.
const shortOf = 8

// InShort reports whether the case number n of a table is run: the short form of the tests has one of eight, and those
// whose file was changed. file is its name from the root of the repository.
func InShort(n int, file string) bool {
	return !testing.Short() || n%shortOf == 0 || slices.Contains(strings.Fields(os.Getenv(ChangedEnv)), file)
}

// SkipInShort skips the case number n of a table that InShort leaves out.
func SkipInShort(tb testing.TB, n int, file string) {
	tb.Helper()
	if !InShort(n, file) {
		tb.Skip("not in make quick")
	}
}
