// Package shell is the face of agents that work from a command line: verbs on a browser that stays between commands.
// A session is one background process with one browser. A command reads its words, sends steps to that process over a
// socket of the user, and prints what comes back. The steps are calls of the tools that MCP offers, so that both faces
// have the same words and answers. docs/reference/shell.md is its contract.
package shell
