package manifest

import (
	"regexp"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
)

var originShape = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/?#@]*/?$`)

func (c *checker) surface(o *object) Surface {
	s := Surface{
		Origin: read(o, "origin", func(v value) string {
			origin := v.string()
			// Metadata: an odd origin makes a map no less safe.
			if v.n.kind == kindString && !originShape.MatchString(origin) {
				v.warn(fault.InvalidValue, "should be an origin such as https://example.com, without a path")
			}
			return origin
		}),
		Name:        o.string("name"),
		Kind:        o.string("kind"),
		Description: o.description(),
		SurfaceID:   o.identifier("surface_id"),
		URLPatterns: o.urlPatterns("url_patterns"),
	}
	s.Extensions = o.done()
	return s
}

func (c *checker) provenance(o *object) Provenance {
	p := Provenance{
		CreatedBy:  o.string("created_by"),
		CreatedAt:  o.string("created_at"),
		UpdatedBy:  o.string("updated_by"),
		UpdatedAt:  o.string("updated_at"),
		ReviewedBy: o.string("reviewed_by"),
		ReviewedAt: o.string("reviewed_at"),
		Raw:        o.raw(),
	}
	if v, ok := o.get("source"); ok {
		switch v.n.kind {
		case kindString:
			p.Source = v.raw()
		case kindObject:
			p.Source = v.raw()
			c.source(v.object())
		default:
			v.fail(fault.WrongType, "must be a string or an object, not %s", v.n.kind)
		}
	}
	if v, ok := o.get("revision"); ok {
		if v.n.kind != kindString && v.n.kind != kindNumber {
			v.fail(fault.WrongType, "must be a string or a number, not %s", v.n.kind)
		}
		p.Revision = v.raw()
	}
	p.Extensions = o.done()
	return p
}

func (c *checker) file(o *object) File {
	f := File{Kind: "reference"}
	if v, ok := o.get("id"); ok {
		c.files.what = "file"
		f.ID = v.identifier()
		c.files.add(f.ID, v)
	}
	if v, ok := o.need("path"); ok {
		f.Path = v.companionPath()
	}
	if k := o.string("kind"); k != "" {
		f.Kind = k
	}
	f.Title = o.string("title")
	f.Description = o.description()
	f.ReadWhen = o.string("read_when")
	f.Extensions = o.done()
	return f
}

// companionPath returns the path of a file that will be read. It is stricter
// than a source hint: not even a path that comes back is allowed.
func (v value) companionPath() string {
	p := v.string()
	if v.n.kind != kindString {
		return ""
	}
	p = strings.ReplaceAll(p, `\`, "/")
	if absolute(p) {
		v.fail(fault.PathEscape, "the path must be relative")
		return ""
	}
	for part := range strings.SplitSeq(p, "/") {
		if part == "" || part == "." || part == ".." || strings.ContainsRune(part, 0) {
			v.fail(fault.PathEscape, "the path has an empty, . or .. part")
			return ""
		}
	}
	return p
}

// absolute reports whether p, with / separators, starts at a root, a drive or
// a scheme.
func absolute(p string) bool {
	if strings.HasPrefix(p, "/") || strings.ContainsRune(p, 0) {
		return true
	}
	i := strings.IndexByte(p, ':')
	if i <= 0 {
		return false
	}
	for j := range i {
		c := p[j]
		later := c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'
		if !(c|0x20 >= 'a' && c|0x20 <= 'z' || j > 0 && later) {
			return false
		}
	}
	return true
}

// escapes reports whether p, with / separators, leaves the folder it starts in.
func escapes(p string) bool {
	depth := 0
	for part := range strings.SplitSeq(p, "/") {
		switch part {
		case "", ".":
		case "..":
			if depth--; depth < 0 {
				return true
			}
		default:
			depth++
		}
	}
	return false
}
