// Package trace writes a recording in the format of Playwright's traces, so that its viewer opens it, and
// serves the project's own view. It does not record and does not change recordings. The verbs trace and the
// flag --trace call it.
//
// Version 8 of the format is written: every viewer since Playwright 1.53 reads it. There the line that names
// a snapshot comes before the snapshot.
package trace
