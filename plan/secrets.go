package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/outrider-run/outrider/internal/mask"
)

// Secrets resolves what plans declare, each reference once. It is for one run, or for all
// rounds of a watch, and for one goroutine.
type Secrets struct {
	set   *mask.Set
	given []string            // names that the set had before: they come before those of plans
	known map[string]resolved // by plan, name and reference
	first map[string]resolved // what the set has of plans, by name
}

type resolved struct {
	value   string
	origins []string
	plan    string // that declares it
}

func (r resolved) same(o resolved) bool {
	return r.value == o.value && slices.Equal(r.origins, o.origins)
}

// NewSecrets resolves secrets into a set, which masks all of them.
func NewSecrets(set *mask.Set) *Secrets {
	return &Secrets{set: set, given: set.Names(), known: map[string]resolved{}, first: map[string]resolved{}}
}

// Resolve resolves the secrets that the plans of a suite declare, except for those that
// were given. Plans may have different ones of the same name: each case has its own.
func (x *Secrets) Resolve(ctx context.Context, s *Suite) error {
	others := map[string]map[string]resolved{} // by the plan of the cases: what differs from the set
	for _, c := range s.Cases {
		path := c.Plan.Path()
		if _, done := others[path]; done {
			continue // a further row
		}
		ofCase := map[string]resolved{}
		others[path] = map[string]resolved{}
		err := c.References(func(name, declaring string, r mask.Reference) error {
			if slices.Contains(x.given, name) {
				return nil
			}
			one, err := x.resolve(ctx, name, declaring, r)
			if err != nil {
				return err
			}
			if before, twice := ofCase[name]; twice && !before.same(one) {
				return fmt.Errorf(
					"the secret %s: %s has another one of this name, and both run in one case", name, before.plan,
				)
			}
			ofCase[name] = one
			if !x.first[name].same(one) {
				others[path][name] = one
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	s.own = map[string]*mask.Set{}
	for path, secrets := range others { // when the set has all
		for name, one := range secrets {
			from := x.set
			if s.own[path] != nil {
				from = s.own[path]
			}
			own, err := from.With(name, one.value, one.origins...)
			if err != nil {
				return err
			}
			s.own[path] = own
		}
	}
	return nil
}

// resolve reads a secret, and has it masked.
func (x *Secrets) resolve(ctx context.Context, name, declaring string, r mask.Reference) (resolved, error) {
	reference, err := json.Marshal([]any{declaring, name, r})
	if err != nil {
		return resolved{}, err
	}
	if one, ok := x.known[string(reference)]; ok {
		return one, nil
	}
	value, err := r.Resolve(ctx, filepath.Dir(declaring))
	if err != nil {
		return resolved{}, fmt.Errorf("the secret %s: %w", name, err)
	}
	one := resolved{value: value, origins: r.Origins, plan: declaring}
	if _, taken := x.first[name]; taken {
		err = x.set.Hide(name, value)
	} else if err = x.set.Add(name, value, r.Origins...); err == nil {
		x.first[name] = one
	}
	x.known[string(reference)] = one
	return one, err
}
