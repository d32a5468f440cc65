// Package launch finds a Chromium, starts it with our flags and ends it without a
// trace: its processes, its profile folder, and also after our own process was killed.
// It sends nothing to the browser: that is the transport's user. Package browser calls
// it, and programs that only want to know which browser there is or that act as the
// supervisor of one.
package launch
