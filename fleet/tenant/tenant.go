// Package tenant says who shares a fleet: each tenant has an account of its own in the
// server, with its own queues, records and objects, and what it may use. It does not
// run jobs; workers ask it before each. The verbs fleet up and worker read its file.
package tenant

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/server"
	"github.com/outrider-run/outrider/internal/mask"
)

// File is a file of tenants.
type File struct {
	// Workers is the reference of the password with which workers reach every
	// account: env:NAME, file:PATH or cmd:PROGRAM.
	Workers string            `yaml:"workers"`
	Tenants map[string]Tenant `yaml:"tenants"`

	names     []string
	passwords map[string]string
	worker    string
	dir       string
}

// Tenant is one tenant. What is 0 has no bound.
type Tenant struct {
	Password string `yaml:"password"` // its reference
	Weight   int    `yaml:"weight"`   // share of the workers, beside the other tenants
	Slots    int    `yaml:"slots"`    // jobs at once, over the whole fleet
	// MinutesPerDay is how long its jobs may run, added up, on one day of UTC.
	MinutesPerDay int   `yaml:"minutes_per_day"`
	StorageMB     int64 `yaml:"storage_mb"`
	// Secrets are those that its jobs may name.
	Secrets map[string]Secret `yaml:"secrets"`
}

// Secret is where a worker finds a secret, and where it may be used.
type Secret struct {
	From    string   `yaml:"from"` // its reference
	Origins []string `yaml:"origins"`
}

// shared is the account in which workers keep what tenants must not write.
const shared = "workers"

// Read reads a file and resolves its passwords.
func Read(ctx context.Context, path string) (*File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &File{passwords: map[string]string{}}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(f); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(f.Tenants) == 0 {
		return nil, fmt.Errorf("%s: tenants: expected at least one", path)
	}
	dir := filepath.Dir(path)
	f.dir = dir
	f.worker, err = secret(ctx, dir, f.Workers)
	if err != nil {
		return nil, fmt.Errorf("%s: workers: %w", path, err)
	}
	f.names = slices.Sorted(maps.Keys(f.Tenants))
	for _, name := range f.names {
		t := f.Tenants[name]
		if !fleet.ValidName(name) || name == shared {
			return nil, fmt.Errorf(
				"%s: tenants: the name %q: expected 1 to 64 letters, digits, - and _, and not %q", path, name, shared,
			)
		}
		if t.Weight < 0 || t.Slots < 0 || t.MinutesPerDay < 0 || t.StorageMB < 0 {
			return nil, fmt.Errorf("%s: tenants: %s: expected no negative numbers", path, name)
		}
		f.passwords[name], err = secret(ctx, dir, t.Password)
		if err != nil {
			return nil, fmt.Errorf("%s: tenants: %s: password: %w", path, name, err)
		}
	}
	return f, nil
}

// Secrets resolves the secrets of every tenant, on a worker.
func (f *File) Secrets(ctx context.Context) (map[string]*mask.Set, error) {
	out := map[string]*mask.Set{}
	for _, name := range f.names {
		out[name] = &mask.Set{}
		for _, secretName := range slices.Sorted(maps.Keys(f.Tenants[name].Secrets)) {
			s := f.Tenants[name].Secrets[secretName]
			value, err := secret(ctx, f.dir, s.From)
			if err == nil {
				err = mask.Reference{Env: "X", Origins: s.Origins}.Check()
			}
			if err == nil {
				err = out[name].Add(secretName, value, s.Origins...)
			}
			if err != nil {
				return nil, fmt.Errorf("tenants: %s: secrets: %s: %w", name, secretName, err)
			}
		}
	}
	return out, nil
}

func secret(ctx context.Context, dir, reference string) (string, error) {
	r, err := mask.ParseReference(reference)
	if err != nil {
		return "", err
	}
	return r.Resolve(ctx, dir)
}

// Names are the tenants' names, in order.
func (f *File) Names() []string { return f.names }

// workerName is the user of workers in a tenant's account.
func workerName(tenant string) string { return "worker-" + tenant }

// Users are the users of an embedded server: each tenant in its account, and workers
// in each.
func (f *File) Users() []server.User {
	users := []server.User{{Name: workerName(shared), Password: f.worker, Account: shared}}
	for _, name := range f.names {
		store := f.Tenants[name].StorageMB << 20
		users = append(users,
			server.User{Name: name, Password: f.passwords[name], Account: name, MaxStore: store},
			server.User{Name: workerName(name), Password: f.worker, Account: name, MaxStore: store})
	}
	return users
}

// WorkerURL is the address by which a worker reaches a tenant's account, or that of
// all workers with name "".
func (f *File) WorkerURL(base, name string) (string, error) {
	u, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	if name == "" {
		name = shared
	}
	u.User = url.UserPassword(workerName(name), f.worker)
	return u.String(), nil
}
