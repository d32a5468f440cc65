package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// checkedPage is what mode check of actions.site answers, as far as reports
// show it.
type checkedPage struct {
	OK         bool           `json:"ok"`
	URL        string         `json:"url"`
	ObservedAt string         `json:"observed_at"`
	Summary    map[string]int `json:"summary"`
	Checks     []checkedCheck `json:"checks"`
	States     []struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Current     *bool  `json:"current"`
		MapPath     string `json:"map_path"`
	} `json:"states"`
	Maps []string `json:"maps"`

	duration time.Duration
	raw      json.RawMessage
}

type checkedCheck struct {
	ID          string                     `json:"check_id"`
	Description string                     `json:"description"`
	Severity    string                     `json:"severity"`
	Status      string                     `json:"status"`
	MapPath     string                     `json:"map_path"`
	Contingency string                     `json:"contingency"`
	Evidence    map[string]json.RawMessage `json:"evidence"`
	Error       *struct {
		Code     string         `json:"code"`
		Message  string         `json:"message"`
		Evidence map[string]any `json:"evidence"`
	} `json:"error"`
	Setup struct {
		ByHand []string `json:"by_hand"`
	} `json:"setup"`
	Drift []struct {
		Preferred string          `json:"preferred"`
		Matched   string          `json:"matched"`
		Candidate string          `json:"candidate"`
		Proposal  json.RawMessage `json:"proposal"`
	} `json:"drift"`
}

// breaks says whether the check makes the verb fail: severity info is for
// people to know.
func (c checkedCheck) breaks() bool {
	return (c.Status == "failed" || c.Status == "not_run") && c.Severity != "info"
}

// detail is one line about a check that did not simply pass.
func (c checkedCheck) detail() string {
	switch {
	case len(c.Drift) > 0:
		return fmt.Sprintf("%s matches nothing; %s does (%s)", c.Drift[0].Preferred, c.Drift[0].Matched, c.Drift[0].Candidate)
	case c.Error != nil:
		line := c.Error.Message
		if failed, ok := c.Error.Evidence["failed"]; ok {
			line += fmt.Sprintf(" %v", failed)
		}
		return line
	case c.Status == "not_run":
		return fmt.Sprintf("somebody has to do first what it says at %s", strings.Join(c.Setup.ByHand, ", "))
	case c.Status == "skipped":
		return "the state it is about is not current"
	case c.Status == "unknown":
		return "it asks for nothing that can be seen"
	}
	return ""
}

func (a *app) checkCommand() *cobra.Command {
	var report string
	var settle time.Duration
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check whether a page still is as its maps say",
		Long: "Run every check and diagnose every state of the maps that apply to each open page.\n" +
			"A check with a setup has its steps done first, on the page as it stands; it comes after those without.\n" +
			"Exit code 1 when a check that is more than information fails or cannot be run, or when there is nothing to check.\n" +
			"A check that passes by a fallback is drift: it is reported with the repaired target and does not fail.",
		Example: `  outrider check --open http://127.0.0.1:8080/ --maps ./map/actions.json
  outrider check --open http://127.0.0.1:8080/ --maps sites/ --report junit=check.xml,html=check.html`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(a.browser.maps) == 0 {
				return usage("check needs --maps: an actions.json file or a storage folder")
			}
			if settle < 0 || settle > time.Minute {
				return usage("--settle is %s: expected 0s to 1m", settle)
			}
			files, err := parseReports(report)
			if err != nil {
				return err
			}
			return a.withHost(cmd.Context(), func(ctx context.Context, h *runtime.Host) error { return a.check(ctx, h, settle, files) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&report, "report", "", "files to write, as junit=FILE,json=FILE,html=FILE")
	f.DurationVar(&settle, "settle", 2*time.Second, "how long to look again while a check fails; 0 looks once")
	a.addBrowserFlags(cmd)
	return cmd
}

func (a *app) check(ctx context.Context, h *runtime.Host, settle time.Duration, files reports) error {
	arguments, err := json.Marshal(map[string]any{"mode": "check", "wait_ms": settle.Milliseconds()})
	if err != nil {
		return err
	}
	var pages []checkedPage
	for _, tab := range h.Tabs() {
		reply := h.Do(ctx, runtime.Call{
			ID: uuid.NewString(), Target: runtime.Target{RuntimeID: tab.RuntimeID}, Name: runtime.SiteTool, Arguments: arguments, Timeout: a.callLimit,
		})
		if reply.Err != nil {
			return reply.Err
		}
		p := checkedPage{raw: reply.Output, duration: reply.Duration}
		if err := json.Unmarshal(reply.Output, &p); err != nil {
			return fault.Wrap(fault.Internal, err, "reading the result")
		}
		pages = append(pages, p)
	}
	failed, seen := 0, 0
	for _, p := range pages {
		seen += len(p.Checks) + len(p.States)
		for _, c := range p.Checks {
			if c.breaks() {
				failed++
			}
		}
	}
	ok := failed == 0 && seen > 0
	result := map[string]any{"ok": ok, "pages": rawPages(pages)}
	if a.json {
		a.printJSON(result)
	} else {
		for _, p := range pages {
			printChecked(a.stdout, p)
		}
	}
	complete := a.writeReports(files, func(format string) ([]byte, error) { return checkReport(format, pages, result) })
	switch {
	case seen == 0:
		fmt.Fprintln(a.stderr, "outrider: nothing was checked: no map that applies to the page declares checks or states")
		return &exit{code: exitFailed}
	case !ok:
		return &exit{code: exitFailed}
	case !complete:
		return &exit{code: exitEnvironment}
	}
	return nil
}

func rawPages(pages []checkedPage) []json.RawMessage {
	out := make([]json.RawMessage, len(pages))
	for i, p := range pages {
		out[i] = p.raw
	}
	return out
}

// printChecked shows one page for people.
func printChecked(w io.Writer, p checkedPage) {
	fmt.Fprintf(w, "%s  %s\n", printable(p.URL), p.ObservedAt)
	var rows [][]string
	for _, c := range p.Checks {
		rows = append(rows, []string{c.Status, c.Severity, printable(c.ID), printable(c.detail())})
	}
	printAligned(w, "  ", rows)
	rows = nil
	for _, s := range p.States {
		word := "unknown"
		if s.Current != nil {
			word = map[bool]string{true: "current", false: "not current"}[*s.Current]
		}
		rows = append(rows, []string{word, "state", printable(s.Name), printable(s.Description)})
	}
	printAligned(w, "  ", rows)
	for _, c := range p.Checks {
		for _, d := range c.Drift {
			fmt.Fprintf(w, "  %s: repaired target %s\n", printable(c.ID), printable(string(d.Proposal)))
		}
	}
	s := p.Summary
	fmt.Fprintf(w, "  %d passed, %d drifted, %d failed, %d not run, %d skipped, %d unknown\n", s["passed"], s["drifted"], s["failed"], s["not_run"], s["skipped"], s["unknown"])
}
