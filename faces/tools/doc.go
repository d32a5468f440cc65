// Package tools is what agents do with a runtime: act, snapshot, read, wait, tabs, screenshot and site actions, and
// primitives as they are. It knows no protocol. A face lists the tools in its own way, gives each call to Run and
// writes the outcome.
//
// Every tool names the page that it works on with a handle, and every result names it. The content of a page is data:
// texts of pages are labelled with the origin that they come from.
package tools
