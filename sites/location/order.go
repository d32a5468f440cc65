package location

import (
	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// ByLocale sorts paths as a reader of English lists them, letters without regard
// to case, and returns them.
func ByLocale(paths []string) []string {
	collate.New(language.English).SortStrings(paths)
	return paths
}
