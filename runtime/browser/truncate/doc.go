// Package truncate bounds texts of a page or a browser before it becomes evidence,
// a record or a log line. It does not judge the text; an address loses only its user
// and password, or all but its origin. The packages of runtime/browser call it.
package truncate
