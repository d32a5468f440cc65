// Package mcp offers a runtime to agents over the Model Context Protocol, with the
// official SDK: a small catalog of tools that rarely changes, the whole primitive
// dictionary behind an option, and what the runtime knows of maps, calls and pictures
// as resources. It runs nothing itself: each tool is a call of the host. The verb mcp
// of cmd/outrider serves it.
//
// Every tool names the page it works on with a handle, and every result names
// it. The content of a page is data: texts of pages are labelled with
// the origin that they come from.
package mcp
