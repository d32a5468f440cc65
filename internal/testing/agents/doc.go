// Package agents has a test that lets scripted agents do tasks on applications of npm and
// PyPI, through this server and two others. An agent knows only what tool output shows it.
// It is no part of the program, and nothing calls it; make agents runs it.
package agents
