// Package truth has the tests of what an action answers when a page deceives or fails it:
// each page of testdata/pages/truthtable, through MCP, a bridge and the provider protocol.
// It is no part of the program, and nothing calls it. docs/truth.md is made of the same
// pages.
package truth
