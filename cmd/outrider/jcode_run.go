package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/runtime/browser"
)

const jcodeHelp = `usage: browser ACTION [PARAMS-JSON]
       browser session start NAME [--bind-window] | session stop NAME | session list

Actions are those of the browser bridge CLI (navigate, getContent, click, type, ...); a name with a dot is a
method of the browser provider protocol 0.1. BROWSER_SESSION names the session.
`

const jcodeSessionHelp = `usage: browser session start NAME [--bind-window]

Serve the session NAME until it is stopped or idle.
  --bind-window   the session has a window of its own (it always has)
`

// jcodeDefaultSession is the session of actions that name none.
const jcodeDefaultSession = "default"

// jcodeStart bounds the start of a session's process.
const jcodeStart = 20 * time.Second

func (a *app) jcodeRunCommand() *cobra.Command {
	var flags providerFlags
	cmd := &cobra.Command{
		Use: "run -- ACTION [PARAMS]", Short: "What jcode runs: one action of its browser tool", Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := a.bounded(cmd.Context())
			defer cancel()
			if err := a.jcodeRun(ctx, flags, args); err != nil {
				fmt.Fprintf(a.stderr, "Error: %s\n", strings.TrimSpace(err.Error()))
				return &exit{exitFailed, nil}
			}
			return nil
		},
	}
	flags.add(cmd)
	a.addBrowserFlags(cmd)
	return cmd
}

func (a *app) jcodeRun(ctx context.Context, flags providerFlags, args []string) error {
	if len(args) == 0 || args[0] == "help" || args[0] == "--help" {
		fmt.Fprint(a.stdout, jcodeHelp)
		return nil
	}
	action := args[0]
	switch action {
	case "session":
		return a.jcodeSession(ctx, flags, args[1:])
	case "version", "--version":
		fmt.Fprintf(a.stdout, "outrider %s\n", version)
		return nil
	}
	params := map[string]any{}
	if len(args) > 1 && strings.TrimSpace(args[1]) != "" {
		if err := json.Unmarshal([]byte(args[1]), &params); err != nil || params == nil {
			return fmt.Errorf("invalid_request: the params are not a JSON object")
		}
	}
	name := os.Getenv("BROWSER_SESSION")
	if out, err, done := a.jcodeProbe(action, params, name); done {
		if err == nil {
			a.printJSON(out)
		}
		return err
	}
	if _, known := jcodeActions[action]; !known && !strings.Contains(action, ".") {
		return fmt.Errorf("Unknown action: %s", action) //nolint:staticcheck // the words that jcode looks for
	}
	if name == "" {
		name = jcodeDefaultSession
	}
	s, err := sessionNamed(name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, jcodeStart+2*a.callLimit)
	defer cancel()
	c, err := a.dialSession(ctx, s)
	if err != nil {
		return err
	}
	defer c.close()
	out, err := c.act(ctx, action, params)
	if err != nil {
		return err
	}
	a.printJSON(out)
	return nil
}

// jcodeProbe answers what jcode asks before each action, to learn whether there
// is anybody: the ping, and without a session four actions with params that mean
// nothing. No page is touched for them.
func (a *app) jcodeProbe(action string, params map[string]any, session string) (out map[string]any, err error, done bool) { //nolint:revive // the error is one answer
	if action == "ping" {
		if a.browser.attach == "" {
			if _, err := browser.Find(a.browser.path); err != nil {
				return nil, err, true
			}
		}
		return map[string]any{"pong": true, "time": time.Now().UnixMilli(), "browser": "chrome", "transport": "outrider", "extensionVersion": version}, nil, true
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
