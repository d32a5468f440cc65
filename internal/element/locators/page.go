package locators

import (
	"context"

	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/primitives"
)

// maxLive bounds the elements of one search: a page has more only in long lists,
// whose rows are distinguished by their data.
const maxLive = 1500

// Describe describes the elements with the given handles, nil for those
// that are detached.
func Describe(ctx context.Context, page primitives.Page, handles []string) ([]*likeness.Seen, error) {
	var out struct {
		Elements []*likeness.Seen `json:"elements"`
	}
	err := page.Call(ctx, "", "appearances", map[string]any{"handles": handles}, &out)
	return out.Elements, err
}

// Live lists the elements of a page among which those remembered can be. Complete
// is false when the page has more than can be compared.
func Live(
	ctx context.Context, page primitives.Page, remembered []likeness.Element,
) (live []likeness.Seen, complete bool, err error) {
	tags, roles := likeness.Kin(remembered)
	var out struct {
		Candidates []likeness.Seen `json:"candidates"`
		Complete   bool            `json:"complete"`
	}
	err = page.Call(ctx, "", "appearances", map[string]any{"tags": tags, "roles": roles, "limit": maxLive}, &out)
	return out.Candidates, out.Complete, err
}
