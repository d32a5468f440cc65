package runtime

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/primitives/fault"
)

// takesSecrets are the arguments in which a placeholder is replaced by its secret. They
// go into a field, a prompt or a cookie, and no script sees them before.
var takesSecrets = map[string][]string{
	"text.insert":            {"text"},
	"text.type":              {"text"},
	"browser.dismiss_dialog": {"prompt_text"},
	"cookie.set":             {"cookies"},
}

// revealSecrets puts the secrets into the arguments of the primitive name. Only those are revealed
// that the call itself names (named are its arguments): neither a map nor a page can ask for
// one. address is the page that gets them.
func revealSecrets(
	secrets *mask.Set, named json.RawMessage, address, name string, args json.RawMessage,
) (json.RawMessage, *fault.Error) {
	if secrets.Empty() || !secrets.Uses(string(args)) {
		return args, nil
	}
	for _, used := range mask.Placeholders(string(args)) {
		if !secrets.Uses(used) || strings.Contains(string(named), used) {
			continue
		}
		return nil, fault.New(fault.PermissionDenied, "the call does not name %s, so it is not typed", used).
			Next("give the placeholder in the arguments of the call")
	}
	var members map[string]any
	if err := json.Unmarshal(args, &members); err != nil {
		return args, nil // Invoke says what is wrong
	}
	if trusted, _ := members["trusted"].(bool); name == "text.type" && trusted {
		secrets.TypedByKeys(mask.Used(string(args))...)
	}
	for member, value := range members {
		taken := slices.Contains(takesSecrets[name], member)
		out, err := mapStrings(value, func(text string) (string, error) {
			if !taken {
				if secrets.Uses(text) {
					return "", fault.New(fault.InvalidInput, "%s takes no secret in %s", name, member).
						With("takes_secrets", slices.Sorted(maps.Keys(takesSecrets)))
				}
				return text, nil
			}
			return secrets.Reveal(text, address)
		})
		if err != nil {
			return nil, fault.From(err)
		}
		members[member] = out
	}
	out, err := json.Marshal(members)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "encoding the arguments")
	}
	return out, nil
}

func mapStrings(v any, change func(string) (string, error)) (any, error) {
	var err error
	switch v := v.(type) {
	case string:
		return change(v)
	case []any:
		for i := range v {
			v[i], err = mapStrings(v[i], change)
			if err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for k := range v {
			v[k], err = mapStrings(v[k], change)
			if err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}
