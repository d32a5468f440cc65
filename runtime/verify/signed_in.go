package verify

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
	signedOutNames = []string{
		"signedout", "loggedout", "unauthenticated", "notsignedin",
		"notloggedin", "notauthenticated", "signinrequired", "loginrequired",
	}
)

func isNamed(name string, names []string) bool {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		name = name[i+1:]
	}
	return slices.Contains(names, strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name)))
}

// NeedsSignedIn reports whether a tool needs somebody to be signed in, or nobody to
// be; nil when it does not say, nor its map. A map that declares a state of that
// very name means that state instead: see RequiredStates.
func NeedsSignedIn(lib *sites.Library, m *sites.Map, t *manifest.Tool) *bool {
	for _, r := range []manifest.Requirements{t.Needs, m.Manifest.Requires} {
		if r.SignedIn != nil {
			return r.SignedIn
		}
		for _, name := range r.Capabilities {
			if IsSignedInRequirement(lib, m, name) {
				wanted := true
				return &wanted
			}
		}
	}
	return nil
}

// IsSignedInRequirement reports whether a name in requires asks for somebody to be
// signed in although no state has it.
func IsSignedInRequirement(lib *sites.Library, m *sites.Map, name string) bool {
	return !IsState(lib, m, name) && isNamed(name, signedInNames)
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

// SignedInVerdict decides from the verdicts on the map's states. That nobody is
// known to be signed out does not say that somebody is signed in: a page that is
// still empty shows neither.
func SignedInVerdict(lib *sites.Library, m *sites.Map, of func(state string) Verdict) Verdict {
	in, out := signedInStates(lib, m)
	for _, n := range out {
		if of(n) == Yes {
			return No
		}
	}
	v := Unknown
	for _, n := range in {
		switch of(n) {
		case Yes:
			return Yes
		case No:
			v = No
		}
	}
	return v
}

// AddSignedIn adds what deciding it needs.
func (b *Batch) AddSignedIn(m *sites.Map) {
	in, out := signedInStates(b.Library, m)
	for _, n := range append(in, out...) {
		b.AddState(m, n)
	}
}

// RequireSignedIn fails when it is certainly not as a tool needs it, and says
// whether it could be decided.
func (b *Batch) RequireSignedIn(m *sites.Map, wanted bool) (decided bool, err *fault.Error) {
	v := SignedInVerdict(b.Library, m, func(n string) Verdict { return b.Diagnose(m, n).Verdict })
	if v == Unknown || (v == Yes) == wanted {
		return v != Unknown, nil
	}
	var report []Diagnosis
	in, out := signedInStates(b.Library, m)
	for _, n := range append(in, out...) {
		report = append(report, b.Diagnose(m, n))
	}
	message := "nobody is signed in, which the action needs; nothing was done"
	next := "sign in first, or ask the user to"
	if !wanted {
		message = "somebody is signed in, and the action needs that nobody is; nothing was done"
		next = "sign out first, or leave the action out"
	}
	return true, fault.New(fault.StateMismatch, "%s", message).
		With("required", []string{SignedInName(wanted)}).With("missing", []string{SignedInName(wanted)}).
		With("diagnosis", report).With("url", fault.Clip(b.URL, 200)).Next(next)
}

// SignedInName is how evidence and lists name the requirement.
func SignedInName(wanted bool) string {
	if wanted {
		return signedIn
	}
	return "not_" + signedIn
}
