package plan

import (
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
)

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
