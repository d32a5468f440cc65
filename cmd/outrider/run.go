package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// runResult is what `run --json` prints.
type runResult struct {
	OK         bool              `json:"ok"`
	Action     string            `json:"action"`
	RuntimeID  string            `json:"runtime_id"`
	URL        string            `json:"url"`
	Output     json.RawMessage   `json:"output,omitempty"`
	Error      *fault.Error      `json:"error,omitempty"`
	Steps      json.RawMessage   `json:"steps,omitempty"`
	DurationMS int64             `json:"duration_ms"`
	Artifacts  map[string]string `json:"artifacts,omitempty"`
}

func (a *app) runCommand() *cobra.Command {
	var action, args, artifacts, report string
	cmd := &cobra.Command{
		Use:   "run --action NAME [--args JSON] | run PLAN",
		Short: "Run one site action on a page, or a plan of them",
		Long: "Run one site action, or the steps of PLAN: a YAML or JSON file with maps, an address to open and steps, each an action, a state, a call of a\n" +
			"primitive or check, with expect as JSONata over its result. A plan stops at the first step that fails; exit code 1.",
		Example: `  outrider run --open http://127.0.0.1:8080/ --maps ./map/actions.json --action contact.submit_name --args '{"name":"Ada"}' --json
  outrider run smoke.yaml --report junit=smoke.xml --artifacts out/`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, plans []string) error {
			files, err := parseReports(report)
			if err != nil {
				return err
			}
			if len(plans) == 1 {
				if action != "" || cmd.Flags().Changed("args") {
					return usage("run takes a plan or --action, not both")
				}
				if files["html"] != "" {
					return usage("--report html is for the verb check; a plan has junit and json")
				}
				return a.runPlan(cmd.Context(), plans[0], files, artifacts)
			}
			if action == "" {
				return usage("run needs --action NAME or a plan")
			}
			if cmd.Flags().Changed("report") {
				return usage("--report is for a plan")
			}
			arguments, err := a.jsonArgument("--args", args)
			if err != nil {
				return err
			}
			call, err := json.Marshal(map[string]any{"mode": "call", "action": action, "arguments": arguments})
			if err != nil {
				return err
			}
			return a.withHost(cmd.Context(), func(ctx context.Context, h *runtime.Host) error {
				target := firstTab(h)
				reply := h.Do(ctx, runtime.Call{ID: uuid.NewString(), Target: target, Name: runtime.SiteTool, Arguments: call, Timeout: a.callLimit})
				result := runResult{
					OK: reply.Err == nil, Action: action, RuntimeID: reply.RuntimeID, URL: reply.URL, Output: reply.Output,
					Error: reply.Err, Steps: reply.Steps, DurationMS: reply.Duration.Milliseconds(),
				}
				if artifacts != "" {
					if path, err := a.screenshot(context.WithoutCancel(ctx), h, target, artifacts, action); err != nil {
						fmt.Fprintf(a.stderr, "outrider: no screenshot: %v\n", err)
					} else {
						result.Artifacts = map[string]string{"screenshot": path}
					}
				}
				if a.json {
					a.printJSON(result)
					if !result.OK {
						return &exit{code: exitFailed}
					}
					return nil
				}
				if reply.Err != nil {
					return reply.Err
				}
				a.printResult(reply.Output)
				return nil
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&action, "action", "", "name of the site action")
	f.StringVar(&args, "args", "{}", "its arguments: a JSON object, @FILE or -")
	f.StringVar(&artifacts, "artifacts", "", "directory for a screenshot taken after the action, or of each step of a plan that fails")
	f.StringVar(&report, "report", "", "files to write of a plan, as junit=FILE,json=FILE")
	a.addBrowserFlags(cmd)
	return cmd
}

// screenshot saves what the tab shows now and returns the file's path.
func (a *app) screenshot(ctx context.Context, h *runtime.Host, target runtime.Target, dir, name string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	reply := h.Do(ctx, runtime.Call{ID: uuid.NewString(), Target: target, Name: "browser.screenshot", Arguments: json.RawMessage(`{"format":"png"}`), Timeout: a.callLimit})
	if reply.Err != nil {
		return "", reply.Err
	}
	path := filepath.Join(dir, name+".png")
	if _, err := saveImage(reply.Output, path); err != nil {
		return "", err
	}
	return path, nil
}
