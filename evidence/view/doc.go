// Package view shows a recording in a browser: the list of calls with their steps, the documents before and
// after each, what the console, the network and the pictures say meanwhile. It serves one page of its own on
// this machine, behind an address that cannot be guessed, and nothing of a recorded page runs in it. It does
// not record and does not replay. The verb trace open calls it.
package view
