package primitives

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/outrider-run/outrider/primitives/arguments"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/upstream"
)

// IgnoredUpstream lists what this host reads of written arguments and the
// extension does not, with pointers as they are written. What no host reads is
// for CheckArguments to report.
func (r *Registry) IgnoredUpstream(name string, args json.RawMessage) []ArgumentProblem {
	prim, ok := r.byName[name]
	if !ok || !upstream.Has(name) {
		return nil
	}
	c, err := prim.checks()
	if err != nil {
		return nil // Invoke says so
	}
	var given map[string]any
	if json.Unmarshal(args, &given) != nil {
		return nil
	}
	var out []ArgumentProblem
	ignored := func(path, what string) {
		out = append(out, ArgumentProblem{
			Path:    path,
			Code:    fault.UnknownField,
			Message: fmt.Sprintf("the extension ignores %s of %s", what, name),
		})
	}
	for _, written := range slices.Sorted(maps.Keys(given)) {
		declared, ok := c.fields.Declares(written)
		switch {
		case !ok:
		case !upstream.Reads(name, declared):
			ignored("/"+arguments.EscapePointer(written), written)
		case slices.Contains(locating, declared):
			inLocator(given[written], "/"+written, ignored)
		}
	}
	return out
}

// locating are the arguments that are locators, or have one as their member
// locator.
var locating = []string{"locator", "target", "from", "to"}

func inLocator(v any, at string, ignored func(path, what string)) {
	members, ok := v.(map[string]any)
	if !ok {
		return
	}
	for _, member := range slices.Sorted(maps.Keys(members)) {
		switch {
		case member == "locator":
			inLocator(members[member], at+"/locator", ignored)
		case upstream.AddedToLocators(member):
			ignored(at+"/"+member, member+" in "+at[1:])
		}
	}
}
