package shell

import (
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Protocol is the version of the messages between a command and its session. A request and each reply is a JSON object
// on one line.
const Protocol = 1

// What a request asks for.
const (
	askRun   = "run"
	askInfo  = "info"
	askClose = "close"
	askHost  = "host" // the connection goes on with hostAsk
	askMCP   = "mcp"  // the connection goes on with the lines of MCP
)

// request is sent by a command, once for each connection.
type request struct {
	Protocol int    `json:"protocol"`
	Ask      string `json:"ask"`
	Steps    []Step `json:"steps,omitempty"`
	// MCP are the options of a face, as the one who serves it reads them.
	MCP json.RawMessage `json:"mcp,omitempty"`
}

// reply is one of the answers. The last one has End.
type reply struct {
	Protocol int             `json:"protocol"`
	Step     int             `json:"step"`
	Text     string          `json:"text,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"`
	Said     []string        `json:"said,omitempty"`
	Image    []byte          `json:"image,omitempty"`
	Error    *fault.Error    `json:"error,omitempty"`
	Info     *Info           `json:"info,omitempty"`
	End      bool            `json:"end,omitempty"`
}

// Info describes a session.
type Info struct {
	Name    string    `json:"session"`
	Shared  bool      `json:"shared"`
	PID     int       `json:"pid"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	Used    time.Time `json:"last_used"`
	// Owner is the process that the session ends with, 0 for none.
	Owner int    `json:"owner_pid,omitempty"`
	Pages int    `json:"pages"`
	URL   string `json:"url,omitempty"`
	Title string `json:"title,omitempty"`
	// Memory is the memory of the process and its browser, in bytes; 0 where it is not known. Parts that
	// several of these processes share count once for each of them.
	Memory int64 `json:"memory_bytes,omitempty"`
}

// Answer is the answer of one step.
type Answer struct {
	Step   Step
	Text   string
	Result json.RawMessage
	Said   []string
	Image  []byte
}
