package inject

import _ "embed"

// Listen is the script that listens for declared page events. It is no part of the library: it
// runs before the first script of every document, in a world of its own, and so is small.
// Applied to its table it is a complete script:
//
//	(Listen)(table)
//
// The file says what the table is and what it reports.
//
//go:embed signals/listen.js
var Listen string
