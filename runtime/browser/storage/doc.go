// Package storage reads and writes the cookies and the local storage of a browser
// context. It opens no tabs: for an origin that none of them shows it needs its caller
// for an empty document. Package browser calls it.
package storage
