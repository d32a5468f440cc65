//go:build !unix || solaris || aix

package outfile

import "os"

// hold does nothing: there is no lock that ends with the program.
func hold(*os.File) bool { return true }

// noWait is nothing: no file waits for another end.
const noWait = 0
