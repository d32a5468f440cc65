package jcode

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/outrider-run/outrider/faces/provider"
	"github.com/outrider-run/outrider/internal/background"
)

// Face answers what jcode runs. Every field is needed.
type Face struct {
	Out       io.Writer
	Log       *slog.Logger
	Version   string
	CallLimit time.Duration // bounds one call
	Idle      time.Duration // a session's process ends when nobody used it for so long
	// Self is the command line of this process up to its two dashes: with a
	// session after them it starts the process of a session.
	Self []string
	// FindBrowser fails when there is no browser to use.
	FindBrowser func() error
	// Serve runs do with a provider, which keeps its sessions for idle, and closes
	// it afterwards.
	Serve func(ctx context.Context, idle time.Duration, do func(context.Context, *provider.Server) error) error
}

const help = `usage: browser ACTION [PARAMS-JSON]
       browser session start NAME [--bind-window] | session stop NAME | session list

Actions are those of the browser bridge CLI (navigate, getContent, click, type, ...); a name with a dot is a
method of the browser provider protocol 0.1. BROWSER_SESSION names the session.
`

const sessionHelp = `usage: browser session start NAME [--bind-window]

Serve the session NAME until it is stopped or idle.
  --bind-window   the session has a window of its own (it always has)
`

// defaultSession is the session of actions that name none.
const defaultSession = "default"

// Run runs one command line of jcode: an action with its params, or a verb about
// sessions. The error is the text that jcode shows.
func (f *Face) Run(ctx context.Context, args []string) error {
	if len(args) == 0 || args[0] == "help" || args[0] == "--help" {
		fmt.Fprint(f.Out, help)
		return nil
	}
	action := args[0]
	switch action {
	case "session":
		return f.session(ctx, args[1:])
	case "version", "--version":
		fmt.Fprintf(f.Out, "outrider %s\n", f.Version)
		return nil
	}
	params := map[string]any{}
	if len(args) > 1 && strings.TrimSpace(args[1]) != "" {
		if err := json.Unmarshal([]byte(args[1]), &params); err != nil || params == nil {
			return fmt.Errorf("invalid_request: the params are not a JSON object")
		}
	}
	name := os.Getenv("BROWSER_SESSION")
	if out, err, done := f.probe(action, params, name); done {
		if err == nil {
			f.print(out)
		}
		return err
	}
	if _, known := actions[action]; !known && !strings.Contains(action, ".") {
		return fmt.Errorf("Unknown action: %s", action) //nolint:staticcheck // the words that jcode looks for
	}
	if name == "" {
		name = defaultSession
	}
	s, err := sessionNamed(name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, background.StartLimit+2*f.CallLimit)
	defer cancel()
	c, err := f.dial(ctx, s)
	if err != nil {
		return err
	}
	defer c.close()
	out, err := c.act(ctx, action, params)
	if err != nil {
		return err
	}
	f.print(out)
	return nil
}

// probe answers the calls that jcode makes before each action, to learn whether there
// is anybody: the ping, and without a session four actions with params that mean
// nothing. No page is touched for them.
func (f *Face) probe(action string, params map[string]any, session string) (out map[string]any, err error, done bool) { //nolint:revive // the error is one answer
	if action == "ping" {
		if err := f.FindBrowser(); err != nil {
			return nil, err, true
		}
		return map[string]any{
			"pong":             true,
			"time":             time.Now().UnixMilli(),
			"browser":          "chrome",
			"transport":        "outrider",
			"extensionVersion": f.Version,
		}, nil, true
	}
	if session != "" {
		return nil, nil, false
	}
	switch {
	case action == "evaluate" && len(params) == 1 && params["script"] == "return 1":
		return map[string]any{"result": 1, "type": "number", "probe": true}, nil, true
	case action == "listFrames" && len(params) == 0:
		return map[string]any{"frames": []any{}, "probe": true}, nil, true
	case action == "scroll" && len(params) == 1 && params["position"] == "top":
		return map[string]any{"scrolled": false, "type": "position", "probe": true}, nil, true
	case action == "uploadFile" && params["filePath"] == "/tmp/jcode-browser-capability-probe":
		return nil, fmt.Errorf("the file of the probe is not uploaded"), true
	}
	return nil, nil, false
}

// print writes one JSON document.
func (f *Face) print(v any) {
	enc := json.NewEncoder(f.Out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		f.Log.Error("writing the result", "error", err)
	}
}
