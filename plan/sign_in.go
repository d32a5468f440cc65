package plan

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
)

// SignIn implements Session.
func (w *workspace) SignIn(ctx context.Context, c browser.Credentials) error {
	return w.host.SignIn(ctx, w.Workspace, c)
}

// SignIn implements Session.
func (p *profile) SignIn(ctx context.Context, c browser.Credentials) error {
	return p.Host.SignIn(ctx, nil, c)
}

// keys are the names and passwords that a plan has for servers.
func (r *run) keys(p *spec.Plan) ([]browser.Credentials, error) {
	var out []browser.Credentials
	for _, one := range p.HTTPCredentials {
		origin, err := r.scope.Text(one.Origin)
		if err != nil {
			return nil, err
		}
		name, err := r.scope.Text(one.Name)
		if err != nil {
			return nil, err
		}
		at := address.Origin(origin)
		if at == "" {
			return nil, fault.New(
				fault.InvalidInput, "http_credentials: the origin is %q: expected one such as https://app.example",
				fault.Clip(origin, 200),
			)
		}
		secrets := cmp.Or(r.o.own, r.o.Secrets)
		name, err = secrets.Reveal(name, at+"/")
		if err != nil {
			return nil, err
		}
		password, err := secrets.Reveal(one.Password, at+"/")
		if err != nil {
			return nil, err
		}
		out = append(out, browser.Credentials{Origin: at, Name: name, Password: password})
	}
	return out, nil
}

// signsIn gives every session what a plan has for servers.
func (r *run) signsIn(ctx context.Context, p *spec.Plan) error {
	keys, err := r.keys(p)
	if err != nil {
		return err
	}
	r.planKeys = append(r.planKeys, keys...)
	for _, s := range r.order {
		if err := r.signIn(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// signIn gives a session what its plans have for servers. What the command line gave comes before it.
func (r *run) signIn(ctx context.Context, s *session) error {
	if len(r.planKeys) == 0 {
		return nil
	}
	for _, c := range r.planKeys {
		if err := s.SignIn(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// Logins are storage states by name, the files of --login.
type Logins struct{}

// Load is the state of a login, nil when there is none of the name.
func (Logins) Load(name string) (json.RawMessage, error) {
	s, err := loginOf(name)
	if err != nil {
		return nil, err
	}
	return s.Load()
}

// Save keeps a state in a file that only its owner can read, and says what it lacks.
func (Logins) Save(name string, state json.RawMessage) (lacks []string, err error) {
	s, err := loginOf(name)
	if err != nil {
		return nil, err
	}
	state, err = stateIn(state)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "reading the storage state")
	}
	return LeftOut(state), SaveState(s.To, state)
}

func loginOf(name string) (Storage, error) {
	if !loginName().MatchString(name) {
		return Storage{}, fault.New(fault.InvalidInput, "a login is named by letters, digits, _, - and ., at most 64").
			With("path", "/login")
	}
	return StorageOf("", "", name)
}
