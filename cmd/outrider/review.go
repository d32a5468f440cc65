package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/evidence/outfile"
	"github.com/outrider-run/outrider/plan"
)

// reviewFlags are the flags of review alone.
type reviewFlags struct{ base, head, noise, comment string }

func (a *app) reviewCommand() *cobra.Command {
	var reports reportFlags
	which := runOnce()
	var how reviewFlags
	cmd := &cobra.Command{
		Use:   "review --base URL --head URL PLAN...",
		Short: "Say what a change did to a site",
		Long: "Run the same plans on two addresses and compare the page after each step: states of maps, roles,\n" +
			"names and texts, requests, console, times and pixels. Addresses of the origin that a plan opens are\n" +
			"taken from --base and --head. What differs between two runs of base (clocks, advertisements, moves,\n" +
			"identifiers, order) is noise. --noise keeps it, so that the next review runs base once. Exit code 1\n" +
			"when a step that is well on base fails on head; other differences do not fail.",
		Example: `  outrider review --base https://main.example --head https://pr-7.example plans/ --comment review.md
  outrider review --base http://127.0.0.1:8080 --head http://127.0.0.1:8081 smoke.plan.yaml --report html=review.html`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, paths []string) error {
			out, err := reports.open(a)
			if err != nil {
				return err
			}
			return a.review(cmd.Context(), which, how, paths, out)
		},
	}
	f := cmd.Flags()
	reports.add(f)
	listVar(f, &which.vars, "var", "variable of plans: NAME=VALUE (repeatable)")
	f.StringVar(&which.VarsFile, "vars", "", "YAML or JSON file with variables of plans")
	f.StringVar(&which.grep, "grep", "", "review only cases whose name or tag matches this regular expression")
	f.StringVar(&how.base, "base", "", "address of the site as it was")
	f.StringVar(&how.head, "head", "", "address of the site with the change")
	f.StringVar(&how.noise, "noise", "", "file with what differs by itself on base; it is written when it is not there")
	f.StringVar(&how.comment, "comment", "", "file for the review in Markdown")
	a.addBrowserFlags(cmd)
	a.addStateFlags(cmd)
	return cmd
}

// maxNoise bounds a file of noise.
const maxNoise = 64 << 20

// readNoise is what an earlier review kept; nil where there is no file yet.
func readNoise(path string) (*plan.Noise, error) {
	if path == "" {
		return nil, nil
	}
	text, err := outfile.Read(path, maxNoise)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var noise plan.Noise
	if err == nil {
		err = json.Unmarshal(text, &noise)
	}
	if err != nil {
		return nil, usage("--noise %s: %w", path, err)
	}
	return &noise, nil
}

func (a *app) review(ctx context.Context, p caseFlags, how reviewFlags, paths []string, out reports) error {
	for name, address := range map[string]string{"--base": how.base, "--head": how.head} {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return usage("%s is %q: expected an address such as http://127.0.0.1:8080", name, address)
		}
	}
	noise, err := readNoise(how.noise)
	if err != nil {
		return err
	}
	return a.judge(ctx, p, paths, out, func(
		ctx context.Context, suite *plan.Suite, b plan.Browser, o plan.Options,
	) error {
		reviewed := suite.Review(ctx, b, plan.ReviewOptions{
			Options: o,
			Base:    how.base,
			Head:    how.head,
			Noise:   noise,
		})
		if err := ended(ctx); err != nil {
			return err
		}
		if a.json {
			a.printJSON(reviewed)
		} else {
			reviewed.Print(a.coloured())
		}
		complete := a.writeReports(out, reviewed.Report(), "")
		complete = a.keepReview(how, noise == nil, reviewed) && complete
		return verdict(reviewed.OK, complete)
	})
}

// keepReview writes what a review leaves beside its reports.
func (a *app) keepReview(how reviewFlags, learned bool, r plan.Reviewed) (complete bool) {
	complete = true
	keep := func(path string, text []byte) {
		if err := outfile.Write(path, a.secrets.MaskBytes(text), 0o644); err != nil {
			a.warn(err)
			complete = false
		}
	}
	if how.comment != "" {
		keep(how.comment, []byte(r.Comment()))
	}
	if how.noise != "" && learned {
		text, err := json.MarshalIndent(r.Noise, "", " ")
		if err != nil {
			a.warn(err)
			return false
		}
		keep(how.noise, append(text, '\n'))
	}
	return complete
}
