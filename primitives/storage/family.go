// Package storage holds the primitives cookie.*, storage_state.* and storage.*: cookies and localStorage of the
// browser context, and the files of the storage that maps come from. It keeps nothing itself. The catalog lists
// it.
package storage

import "github.com/outrider-run/outrider/primitives"

// Primitives lists the primitives of this family. One that is not listed does not exist.
func Primitives() []*primitives.Primitive {
	return []*primitives.Primitive{
		storageReadFile,
		storageList,
		storageImportBundle,
		cookieList,
		cookieSet,
		cookieDelete,
		cookieClear,
		storageStateGet,
		storageStateSet,
	}
}
