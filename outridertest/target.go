package outridertest

import "github.com/outrider-run/outrider"

// Target is a locator of a test's page. Its methods fail the test where those of the locator return errors, and have
// [Page.Patience].
type Target struct {
	outrider.Locator
	page *Page
}

// Target is a target of any locator of the page.
func (p *Page) Target(l outrider.Locator) Target { return Target{Locator: l, page: p} }

// Attribute is an attribute of the element; ok is false where it has none. See [outrider.Locator.Attribute].
func (x Target) Attribute(name string) (value string, ok bool) {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	value, ok, err := x.Locator.Within(x.page.Patience).Attribute(ctx, name)
	x.page.must("Attribute "+x.String(), err)
	return value, ok
}

// Extract reads the elements of a target into a T: see [outrider.Extract].
func Extract[T any](x Target) T {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	out, err := outrider.Extract[T](ctx, x.Locator.Within(x.page.Patience))
	x.page.must("Extract "+x.String(), err)
	return out
}
