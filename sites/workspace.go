package sites

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites/location"
	"github.com/outrider-run/outrider/sites/manifest"
)

// Files of a storage workspace that say what scope its folders are.
const (
	workspaceFile     = "storage.json"
	workspaceProtocol = "actions.json.storage"
	scopeFile         = "scope.json"
	scopeProtocol     = "actions.json.storage.scope"
	// maxScopeFile bounds either of them, in bytes.
	maxScopeFile = 1 << 20
)

// scopeRule is what one of these files says of a folder.
type scopeRule struct {
	folder   string // "" is the root of the storage
	scope    location.Scope
	audience string
	file     string
}

// guard is the audience a map may be shown to, at most.
type guard struct {
	scope    location.Scope
	audience string
}

// workspace is what the files of a storage say about scopes. It can give a scope
// to a folder whose path says none, and it can keep what a path calls public from
// those it is not meant for. It cannot make anything more public, and it cannot
// raise a map above the rank of its path, since a checkout of somebody else's maps
// brings its scope.json along. The nil workspace declares nothing.
type workspace struct {
	rules []scopeRule
}

// same reports whether two storages say the same of scopes.
func (w *workspace) same(o *workspace) bool {
	if w == nil || o == nil {
		return (w == nil || len(w.rules) == 0) && (o == nil || len(o.rules) == 0)
	}
	return slices.Equal(w.rules, o.rules)
}

// locate returns the location of a map, who may import it, and what is odd about
// that.
func (w *workspace) locate(name string, loc location.Location) (location.Location, guard, []manifest.Problem) {
	var (
		odd  []manifest.Problem
		keep = guard{loc.Scope, loc.Audience}
	)
	if w == nil {
		return loc, keep, nil
	}
	for _, r := range w.rules {
		if r.folder != "" && !strings.HasPrefix(name, r.folder+"/") {
			continue
		}
		declared := guard{r.scope, r.audience}
		switch {
		case loc.Scope == location.Unscoped &&
			(r.file == workspaceFile || r.folder == "" || r.scope != location.Private):
			loc.Scope = r.scope
			loc.Audience = r.audience
			keep = declared
		case declared == keep:
		case r.scope == location.Shared && keep.scope == location.Shared:
			// Two audiences: neither may see what is for the other.
			keep = guard{location.Private, ""}
			odd = append(odd, r.unknownScope(loc, keep))
		default:
			if r.scope.Rank() < keep.scope.Rank() {
				keep = declared
			}
			odd = append(odd, r.unknownScope(loc, keep))
		}
	}
	return loc, keep, odd
}

func (r scopeRule) unknownScope(loc location.Location, keep guard) manifest.Problem {
	return manifest.Problem{
		Code: fault.InvalidValue,
		Message: fmt.Sprintf(
			"%s says that this is %s, and its path that it is %s: it is kept %s and ranks as %s",
			r.file, r.scope, scopeName(loc.Scope), keep.scope, scopeName(loc.Scope),
		),
	}
}

// readWorkspace reads the files of a storage through read, which answers nil for
// one that is not there. folders are those that may hold a scope.json. Files of
// other programs that happen to have these names say nothing.
func readWorkspace(read func(name string) []byte, folders []string) (*workspace, []FileReport) {
	w := &workspace{}
	var reports []FileReport
	note := func(file string, problems []manifest.Problem) {
		if len(problems) > 0 {
			reports = append(reports, reportOf(file, manifest.Report{Warnings: problems}))
		}
	}
	if data := read(workspaceFile); data != nil {
		note(workspaceFile, w.readMounts(data))
	}
	for _, folder := range folders {
		if data := read(path.Join(folder, scopeFile)); data != nil {
			note(path.Join(folder, scopeFile), w.readScope(folder, data))
		}
	}
	// The outermost folder speaks first.
	slices.SortStableFunc(w.rules, func(a, b scopeRule) int { return strings.Compare(a.folder, b.folder) })
	return w, reports
}

func (w *workspace) readMounts(data []byte) []manifest.Problem {
	var in struct {
		Protocol string
		Mounts   map[string]struct{ Path, Visibility, Audience string }
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return []manifest.Problem{
			{Code: fault.InvalidJSON, Message: "the file cannot be read; scopes are those of the paths"},
		}
	}
	if in.Protocol != workspaceProtocol {
		return nil
	}
	var odd []manifest.Problem
	for _, name := range slices.Sorted(maps.Keys(in.Mounts)) {
		m := in.Mounts[name]
		at := "/mounts/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		folder, ok := storagePath(strings.TrimSuffix(m.Path, "/"))
		if !ok || absoluteReference(m.Path) {
			odd = append(odd, manifest.Problem{
				Pointer: at + "/path",
				Code:    fault.PathEscape,
				Message: "the path of a mount is relative to the storage and has no empty, . and .. parts",
			})
			continue
		}
		scope, ok := scopeNamed(m.Visibility)
		if !ok {
			if m.Visibility != "" {
				odd = append(odd, manifest.Problem{
					Pointer: at + "/visibility",
					Code:    fault.InvalidValue,
					Message: "the visibility is none of private, shared, public; the mount is treated as private",
				})
			}
			scope, _ = scopeOf(folder)
			if m.Visibility != "" || scope == location.Unscoped {
				scope = location.Private
			}
		}
		w.rules = append(w.rules, scopeRule{folder, scope, audienceOf(scope, m.Audience, folder), workspaceFile})
	}
	return odd
}

func (w *workspace) readScope(folder string, data []byte) []manifest.Problem {
	var in struct{ Protocol, Scope, Audience string }
	if err := json.Unmarshal(data, &in); err != nil {
		return []manifest.Problem{
			{Code: fault.InvalidJSON, Message: "the file cannot be read; the scope is that of the path"},
		}
	}
	if in.Protocol != scopeProtocol {
		return nil
	}
	scope, ok := scopeNamed(in.Scope)
	if !ok {
		return []manifest.Problem{
			{Pointer: "/scope", Code: fault.InvalidValue, Message: "the scope is none of private, shared, public"},
		}
	}
	w.rules = append(w.rules, scopeRule{
		folder, scope, audienceOf(scope, in.Audience, folder), path.Join(folder, scopeFile),
	})
	return nil
}

func scopeNamed(name string) (location.Scope, bool) {
	switch s := location.Scope(name); s {
	case location.Private, location.Shared, location.Public:
		return s, true
	}
	return location.Unscoped, false
}

// audienceOf is the audience of a shared folder: as declared, else as its path
// says.
func audienceOf(scope location.Scope, declared, folder string) string {
	if scope != location.Shared {
		return ""
	}
	if declared != "" {
		return declared
	}
	_, audience := scopeOf(folder)
	return audience
}
