package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/outrider-run/outrider/runtime"
)

// Common clients refuse a whole list for one name that is not of letters, digits, _ and -, or that
// is longer than 64 characters with the prefix that they put before it. So lists have names made
// for them; the names of the protocol, with dots, go on to work in calls.

const (
	// longestName is how long a listed name is at the most.
	longestName = 48
	// hashDigits is how much of a hash ends a name that would not be the only one of its kind.
	hashDigits = 8
)

// plainName is name with nothing in it that a client may refuse. It may be the name of several.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
}

// hashedName is a plain name that says by a hash which name it is of.
func hashedName(name string) string {
	sum := sha256.Sum256([]byte(name))
	plain := plainName(name)
	return plain[:min(len(plain), longestName-hashDigits-1)] + "_" + hex.EncodeToString(sum[:])[:hashDigits]
}

// listedNames are the names under which tools are listed, by their own. No two are alike, none is
// one of taken, and each depends only on which names there are, not on their order.
func listedNames(names []string, taken func(string) bool) map[string]string {
	wanted := map[string]int{}
	for _, name := range names {
		wanted[plainName(name)]++
	}
	listed := make(map[string]string, len(names))
	for _, name := range names {
		plain := plainName(name)
		alone := wanted[plain] == 1 || plain == name
		if plain == "" || len(plain) > longestName || !alone || taken(plain) {
			plain = hashedName(name)
		}
		listed[name] = plain
	}
	return listed
}

// withProtocolName adds the protocol's name of a tool to its description, where the listed name differs.
func withProtocolName(description, name, listed string) string {
	if listed == plainName(name) {
		return description
	}
	return strings.TrimSpace(description + " (" + name + ")")
}

// aliases are the names of the protocol by which the tools of a list can be called. They are safe
// for concurrent use.
type aliases struct {
	mu     sync.Mutex
	listed map[string]string
}

func (a *aliases) add(name, listed string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.listed == nil {
		a.listed = map[string]string{}
	}
	if name != listed {
		a.listed[name] = listed
	}
}

// remove forgets a tool that is listed no more.
func (a *aliases) remove(listed string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.DeleteFunc(a.listed, func(_, as string) bool { return as == listed })
}

// of is the listed name of a tool, whichever of its names is given.
func (a *aliases) of(name string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if listed, ok := a.listed[name]; ok {
		return listed
	}
	return name
}

// own is the name of the protocol of a tool, whichever of its names is given.
func (a *aliases) own(name string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	for own, listed := range a.listed {
		if listed == name {
			return own
		}
	}
	return name
}

// isPrimitive reports whether a name is a primitive's, as it is or as it would be listed.
func (s *Server) isPrimitive(name string) bool {
	return slices.ContainsFunc(s.opts.Host.Dictionary(), func(e runtime.DictionaryEntry) bool {
		return e.Name == name || plainName(e.Name) == name
	})
}

// byAnyName lets a call name its tool as the protocol does.
func (a *aliases) byAnyName(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if called, ok := req.(*sdk.CallToolRequest); ok {
			called.Params.Name = a.of(called.Params.Name)
		}
		return next(ctx, method, req)
	}
}
