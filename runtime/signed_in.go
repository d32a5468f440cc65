package runtime

import (
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// signedIn is how evidence and lists name the requirement, whatever the map
// calls its state.
const signedIn = "signed_in"

// Names of states that say whether somebody is signed in, without their
// separators and in lower case. No schema names one; these are what maps call it.
var (
	signedInNames  = []string{"signedin", "loggedin", "authenticated", "issignedin", "isloggedin", "isauthenticated"}
	signedOutNames = []string{"signedout", "loggedout", "unauthenticated", "notsignedin", "notloggedin", "notauthenticated", "signinrequired", "loginrequired"}
)

func isNamed(name string, names []string) bool {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		name = name[i+1:]
	}
	return slices.Contains(names, strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name)))
}

// needsSignedIn says whether a tool needs somebody to be signed in, or nobody to
// be; nil when it does not say, nor its map. A map that declares a state of that
// very name means that state instead: see requiredStates.
func needsSignedIn(lib *sites.Library, m *sites.Map, t *manifest.Tool) *bool {
	for _, r := range []manifest.Requirements{t.Needs, m.Manifest.Requires} {
		if r.SignedIn != nil {
			return r.SignedIn
		}
		for _, name := range r.Capabilities {
			if isSignedInRequirement(lib, m, name) {
				wanted := true
				return &wanted
			}
		}
	}
	return nil
}

// isSignedInRequirement says whether a name in requires asks for somebody to be
// signed in although no state has it.
func isSignedInRequirement(lib *sites.Library, m *sites.Map, name string) bool {
	return !isState(lib, m, name) && isNamed(name, signedInNames)
}

// signedInStates are the states that a map sees, its own and imported ones, that
// decide whether somebody is signed in.
func signedInStates(lib *sites.Library, m *sites.Map) (in, out []string) {
	for _, s := range lib.States(m) {
		switch n := s.Name; {
		case isNamed(n, signedInNames):
			in = append(in, n)
		case isNamed(n, signedOutNames):
			out = append(out, n)
		}
	}
	return in, out
}

// signedInVerdict decides from what was seen of the map's states. That nobody is
// seen to be signed out does not say that somebody is signed in: a page that is
// still empty shows neither.
func signedInVerdict(lib *sites.Library, m *sites.Map, look func(state string) verdict) verdict {
	in, out := signedInStates(lib, m)
	for _, n := range out {
		if look(n) == yes {
			return no
		}
	}
	v := unknown
	for _, n := range in {
		switch look(n) {
		case yes:
			return yes
		case no:
			v = no
		}
	}
	return v
}

// wantSignedIn notes what deciding it will need.
func (s *survey) wantSignedIn(m *sites.Map) {
	in, out := signedInStates(s.lib, m)
	for _, n := range append(in, out...) {
		s.wantState(m, n)
	}
}

// requireSignedIn fails when it is certainly not as a tool needs it, and tells
// whether it could be decided.
func (s *survey) requireSignedIn(m *sites.Map, wanted bool) (decided bool, err *fault.Error) {
	v := signedInVerdict(s.lib, m, func(n string) verdict { return s.diagnose(m, n).verdict })
	if v == unknown || (v == yes) == wanted {
		return v != unknown, nil
	}
	var report []diagnosis
	in, out := signedInStates(s.lib, m)
	for _, n := range append(in, out...) {
		report = append(report, s.diagnose(m, n))
	}
	message, next := "nobody is signed in, which the action needs; nothing was done", "sign in first, or ask the user to"
	if !wanted {
		message, next = "somebody is signed in, and the action needs that nobody is; nothing was done", "sign out first, or leave the action out"
	}
	return true, fault.New(fault.StateMismatch, "%s", message).
		With("required", []string{signedInName(wanted)}).With("missing", []string{signedInName(wanted)}).
		With("diagnosis", report).With("url", fault.Clip(s.url, 200)).Next(next)
}

func signedInName(wanted bool) string {
	if wanted {
		return signedIn
	}
	return "not_" + signedIn
}
