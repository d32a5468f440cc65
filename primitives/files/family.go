// Package files holds the primitives download.* and upload.*: the files that pages send and take. Which folders
// may be read or written is decided behind primitives.FilePage. The catalog lists it.
package files

import "github.com/outrider-run/outrider/primitives"

// Primitives lists the primitives of this family. One that is not listed does not exist.
func Primitives() []*primitives.Primitive {
	return []*primitives.Primitive{
		uploadSetFiles,
		downloadList,
		downloadWait,
	}
}
