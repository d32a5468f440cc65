package sitetool

import (
	"fmt"
	"slices"

	"github.com/outrider-run/outrider/runtime/checks"
)

// expectations are the caller's own, beyond the checks of the page, in mode check.
type expectations struct {
	// ExpectStatus is the HTTP status that the document must have; 0 is any below
	// 400.
	ExpectStatus int `json:"expect_status"`
	// Requires lists states that must be current.
	Requires []string `json:"requires"`
	// StrictChecks makes critical checks fail that are skipped or say nothing.
	StrictChecks bool `json:"strict_checks"`
	// FailOnDrift makes checks fail that are more than information and drifted.
	FailOnDrift bool `json:"fail_on_drift"`
}

// unmet lists, one sentence each, why a result is not ok although no check fails.
// A page on which nothing holds was not checked: it may be another page than the
// one that was meant. Nor was one that nothing is demanded of: a state may be current or not.
func (x expectations) unmet(r *checks.Page) []string {
	out := []string{}
	switch {
	case x.ExpectStatus != 0 && r.HTTPStatus == 0:
		out = append(out, fmt.Sprintf("the HTTP status of the page is not known, expected %d", x.ExpectStatus))
	case x.ExpectStatus != 0 && r.HTTPStatus != x.ExpectStatus:
		out = append(out, fmt.Sprintf("the HTTP status of the page is %d, expected %d", r.HTTPStatus, x.ExpectStatus))
	case x.ExpectStatus == 0 && r.HTTPStatus >= 400:
		out = append(out, fmt.Sprintf("the HTTP status of the page is %d, expected one below 400", r.HTTPStatus))
	}
	for _, name := range x.Requires {
		i := slices.IndexFunc(r.States, func(s checks.State) bool { return s.Name == name })
		switch {
		case i < 0:
			out = append(
				out, fmt.Sprintf("no map that applies to the page declares the state %s, which is required", name),
			)
		case r.States[i].Current == nil:
			out = append(
				out, fmt.Sprintf("the state %s is required, and it cannot be seen whether it is current", name),
			)
		case !*r.States[i].Current:
			out = append(out, fmt.Sprintf("the state %s is required and not current%s", name, whyNot(r.States[i])))
		case x.FailOnDrift && len(r.States[i].Drift) > 0:
			out = append(out, fmt.Sprintf("the state %s drifted: %s", name, r.States[i].Drift[0].Message))
		}
	}
	if x.StrictChecks {
		for _, c := range r.Checks {
			switch {
			case c.Severity != "critical":
			case c.Status == checks.Skipped:
				out = append(
					out,
					fmt.Sprintf("the critical check %s was skipped: the state it is about is not current", c.ID),
				)
			case c.Status == checks.Unknown:
				out = append(out, fmt.Sprintf("the critical check %s asks for nothing that can be seen", c.ID))
			}
		}
	}
	if x.FailOnDrift {
		for _, c := range r.Checks {
			if c.Status == checks.Drifted && c.Severity != "info" {
				out = append(out, fmt.Sprintf("the check %s drifted: %s", c.ID, c.Drift[0].Message))
			}
		}
	}
	switch {
	case len(r.Checks)+len(r.States) == 0:
		out = append(out, "nothing was checked: no map that applies to the page declares checks or states")
	case len(r.Checks)+len(x.Requires) == 0:
		out = append(out, "nothing was checked: no map that applies to the page declares a check, "+
			"and no state is required")
	case !saw(r) && !slices.ContainsFunc(r.Checks, checks.Check.Breaks):
		out = append(out, "nothing was checked: no check passed and no state is current")
	}
	return out
}

// saw reports whether something that a map declares of the page is so.
func saw(r *checks.Page) bool {
	return slices.ContainsFunc(r.Checks, func(c checks.Check) bool {
		return c.Status == checks.Passed || c.Status == checks.Drifted
	}) ||
		slices.ContainsFunc(r.States, func(s checks.State) bool { return s.Current != nil && *s.Current })
}

// whyNot is the first thing that keeps a state from being current, behind a colon.
func whyNot(s checks.State) string {
	for _, f := range s.Diagnostics {
		if f.OK != nil && !*f.OK && len(f.Mismatches) > 0 {
			return ": " + f.Mismatches[0].Message
		}
	}
	return ""
}
