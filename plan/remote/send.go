package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/submit"
	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Submission is work for a fleet, and how it is to be treated there.
type Submission struct {
	Queue *queue.Queue
	// Run names the submission. One of the same name is the same: its jobs are not
	// run again. "" makes a new name.
	Run      string
	Settings Settings
	Maps     []string
	// Project are those of the maps that a project file names.
	Project []string
	// Evidence takes pictures for a report that shows them. Artifacts is the folder for
	// those that are kept as files, which Ended.Save writes; "" is none.
	Evidence  bool
	Artifacts string
	// Vars are those that the user gave beside the plans' own, Retries those of cases
	// whose plan has none; with RetriesGiven they come before those of plans.
	Vars         map[string]any
	Retries      int
	RetriesGiven bool
	// States lets files of storage state travel: they have cookies.
	States bool
	// How each job is treated; what is left out is the fleet's default.
	Job fleet.Job
}

// environment are references to variables of the environment.
var environment = lazyregexp.New(`\$\{env\.([^}]+)\}`)

// secretLabel begins the label of a worker that has a secret.
const secretLabel = "secret."

// SecretLabels are the labels of a worker, or what a job needs, for secrets of these names.
func SecretLabels(names []string) map[string]string {
	out := map[string]string{}
	for _, name := range names {
		out[secretLabel+name] = "yes"
	}
	return out
}

// needs makes a job one for workers that have the secrets of its case.
func needs(j *fleet.Job, c *spec.Case) {
	labels := SecretLabels(slices.Collect(maps.Keys(c.Secrets())))
	if len(labels) > 0 {
		maps.Copy(labels, j.Labels)
		j.Labels = labels
	}
}

// served is the first place where a case serves a program, "" when it does not.
func served(c *spec.Case) (at string) {
	c.Serves(func(_ *spec.Plan, s *spec.Serve) {
		if at == "" {
			at = s.At.String()
		}
	})
	return at
}

// Cannot says what of a suite cannot be sent, by its name.
func (s *Submission) Cannot(suite *plan.Suite) error {
	for _, c := range suite.Cases {
		if path := c.Absolute(); path != "" {
			return fmt.Errorf(
				"%s names %s, which is a file of this machine: a plan that is sent names files relative to its own",
				c.Plan.Path(), path,
			)
		}
		if at := served(c); at != "" {
			return fmt.Errorf("%s: a worker of a fleet starts no programs of a plan: start the app where the workers "+
				"reach it, and run the plan without serve", at)
		}
		states, err := c.States()
		if err != nil {
			return fmt.Errorf("%w: a storage state that only a step names cannot be sent", err)
		}
		if len(states) > 0 && !s.States {
			return fmt.Errorf("%s begins with the storage state %s, which has cookies: they are sent to the fleet "+
				"only with --send-storage-state", c.Plan.Path(), states[0])
		}
		for _, path := range states {
			if _, err := plan.LoadState(path); err != nil {
				return fmt.Errorf("%s: %s", c.Plan.Path(), fault.From(err).Message)
			}
		}
	}
	return nil
}

// Cases makes a job of each case of a suite, and puts their files into the fleet.
func (s *Submission) Cases(ctx context.Context, suite *plan.Suite) ([]fleet.Job, error) {
	if err := s.Cannot(suite); err != nil {
		return nil, fault.New(fault.InvalidInput, "%v", err)
	}
	mapped, at, err := s.sendMaps(ctx)
	if err != nil {
		return nil, err
	}
	files := bundles{queue: s.Queue, sent: map[string]sent{}, vars: s.Vars}
	jobs := make([]fleet.Job, 0, len(suite.Cases))
	for i, c := range suite.Cases {
		one, bundle, err := files.testCase(ctx, c)
		if err != nil {
			return nil, err
		}
		one.Retries = s.Retries
		one.RetriesGiven = s.RetriesGiven
		j := s.job(i, c.Name, bundle, at)
		needs(&j, c)
		p := payload{
			Case:      one,
			Maps:      mapped,
			Settings:  s.Settings,
			Evidence:  s.Evidence,
			Artifacts: s.Artifacts,
			Single:    suite.Single(),
		}
		jobs, err = s.add(ctx, jobs, j, p)
		if err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// Check makes a job of a check, before which a plan may run; nil runs none.
func (s *Submission) Check(ctx context.Context, x plan.Expectations, before *plan.Suite) ([]fleet.Job, error) {
	p := payload{Check: &x, Settings: s.Settings, Evidence: s.Evidence, Artifacts: s.Artifacts, Single: true}
	var bundle *fleet.Object
	if before != nil {
		err := s.Cannot(before)
		if err == nil && len(before.Cases) != 1 {
			err = fmt.Errorf("the plan before a check has %d cases: a fleet needs one", len(before.Cases))
		}
		if err != nil {
			return nil, fault.New(fault.InvalidInput, "%v", err)
		}
		files := bundles{queue: s.Queue, sent: map[string]sent{}, vars: s.Vars}
		p.Before, bundle, err = files.testCase(ctx, before.Cases[0])
		if err != nil {
			return nil, err
		}
		needs(&s.Job, before.Cases[0])
	}
	mapped, at, err := s.sendMaps(ctx)
	if err != nil {
		return nil, err
	}
	p.Maps = mapped
	return s.add(ctx, nil, s.job(0, "check", bundle, at), p)
}

// job is the job of a number, with its files.
func (s *Submission) job(i int, name string, bundle, maps *fleet.Object) fleet.Job {
	s.Run = cmp.Or(s.Run, submit.NewRun())
	j := s.Job
	j.Run = s.Run
	j.ID = fmt.Sprintf("%04d", i+1)
	j.Kind = Kind
	j.Name = name
	j.Files = map[string]fleet.Object{}
	if bundle != nil {
		j.Files[plansArchive] = *bundle
	}
	if maps != nil {
		j.Files[mapsArchive] = *maps
	}
	return j
}

// add packs the payload of a job and adds the job to others.
func (s *Submission) add(ctx context.Context, to []fleet.Job, j fleet.Job, p payload) ([]fleet.Job, error) {
	raw, err := fleet.Encode(p)
	if err == nil {
		err = s.Queue.PackPayload(ctx, &j, raw)
	}
	return append(to, j), err
}

// sendMaps puts the maps into the fleet, once for all jobs.
func (s *Submission) sendMaps(ctx context.Context) ([]Mapped, *fleet.Object, error) {
	if len(s.Maps) == 0 {
		return nil, nil, nil
	}
	archive := newPacker()
	mapped, err := archive.maps(s.Maps, s.Project)
	if err != nil {
		return nil, nil, err
	}
	at, err := archive.upload(ctx, s.Queue)
	return mapped, at, err
}

// bundles puts the files of cases into a fleet; cases of the same files share them.
type bundles struct {
	queue *queue.Queue
	vars  map[string]any
	sent  map[string]sent
}

// sent is what of a case does not depend on its row.
type sent struct {
	at    *fleet.Object
	names map[string]string // in the archive, by the user's name
	env   map[string]string
	vars  json.RawMessage
}

// testCase is a case as a job carries it.
func (b *bundles) testCase(ctx context.Context, c *spec.Case) (*testCase, *fleet.Object, error) {
	states, err := c.States()
	if err != nil {
		return nil, nil, fault.New(fault.InvalidInput, "%v", err)
	}
	states = append(states, c.Routed()...)
	plans := c.Files()
	key := strings.Join(append(slices.Clone(plans), states...), "\x00")
	one, ok := b.sent[key]
	if !ok {
		one, err = b.send(ctx, plans, states)
		if err != nil {
			return nil, nil, err
		}
		b.sent[key] = one
	}
	out := &testCase{
		Plan:   one.names[c.Plan.Path()],
		Given:  c.Plan.Path(),
		Files:  map[string]string{},
		ID:     c.ID,
		Name:   c.Name,
		Tags:   c.Tags,
		Vars:   one.vars,
		Env:    one.env,
		Number: c.Number,

		Combination: c.Combination,
	}
	for given, at := range one.names {
		out.Files[at] = given
	}
	if c.Scope.Row != nil {
		out.Row, err = fleet.Encode(c.Scope.Row)
		if err != nil {
			return nil, nil, err
		}
	}
	return out, one.at, nil
}

func (b *bundles) send(ctx context.Context, plans, states []string) (sent, error) {
	out := sent{env: map[string]string{}}
	var err error
	out.names, err = layout(slices.Concat(plans, states))
	if err != nil {
		return out, err
	}
	if len(b.vars) > 0 {
		out.vars, err = fleet.Encode(b.vars)
		if err != nil {
			return out, err
		}
	}
	texts := [][]byte{out.vars}
	archive := newPacker()
	for _, path := range slices.Concat(plans, states) {
		text, err := os.ReadFile(path)
		if err != nil {
			return out, fault.New(fault.InvalidInput, "reading the plan: %v", err)
		}
		if slices.Contains(plans, path) {
			texts = append(texts, text)
		}
		if err := archive.file(out.names[path], text); err != nil {
			return out, err
		}
	}
	for _, text := range texts {
		for _, m := range environment().FindAllSubmatch(text, -1) {
			if value, ok := os.LookupEnv(string(m[1])); ok {
				out.env[string(m[1])] = value
			}
		}
	}
	out.at, err = archive.upload(ctx, b.queue)
	return out, err
}

// layout is where files are in an archive: as they lie to each other.
func layout(paths []string) (map[string]string, error) {
	full := make([]string, len(paths))
	root := ""
	for i, path := range paths {
		var err error
		full[i], err = filepath.Abs(path)
		if err != nil {
			return nil, fault.New(fault.InvalidInput, "the path %s: %v", path, err)
		}
		if dir := filepath.Dir(full[i]); i == 0 {
			root = dir
		}
		for !spec.Below(root, full[i]) {
			up := filepath.Dir(root)
			if up == root {
				return nil, fault.New(
					fault.InvalidInput, "the files of the plan are on different volumes: %s and %s", paths[0], path,
				)
			}
			root = up
		}
	}
	out := map[string]string{}
	for i, path := range paths {
		inside, err := filepath.Rel(root, full[i])
		if err != nil {
			return nil, fault.Wrap(fault.Internal, err, "packing %s", path)
		}
		out[path] = "plans/" + filepath.ToSlash(inside)
	}
	return out, nil
}
