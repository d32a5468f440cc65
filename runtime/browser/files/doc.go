// Package files decides which files of this machine a page may get and keeps what the
// browser downloads. It does not touch a page: file inputs are filled by package page.
// Package browser calls it and hands it the events of downloads.
package files
