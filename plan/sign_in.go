package plan

import (
	"cmp"
	"context"

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
