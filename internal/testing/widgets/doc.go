// Package widgets has long tests on components of npm: what a person asks of a widget is done by the tools of agents,
// and each library's own model says whether it was done. It is no part of the program, and nothing calls it; make
// widgets runs it.
package widgets
