// Package mcp offers a runtime to agents over the Model Context Protocol, with the official SDK: the tools of
// faces/tools under names that clients take, and what the runtime knows of maps, calls and pictures as resources. It
// translates, and runs nothing itself. The verb mcp of cmd/outrider serves it.
package mcp
