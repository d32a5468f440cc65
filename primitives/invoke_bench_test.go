package primitives_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/catalog"
)

// canned is a page that gives one answer to every question.
type canned struct {
	primitives.Page
	refs   primitives.Refs
	answer json.RawMessage
}

func (p *canned) Call(_ context.Context, _ primitives.FrameID, _ string, args, out any) error {
	if _, err := json.Marshal(args); err != nil {
		return err
	}
	*out.(*json.RawMessage) = p.answer
	return nil
}

func (p *canned) Refs() *primitives.Refs { return &p.refs }

// BenchmarkInvoke is what the registry adds to a question: arguments checked and
// decoded, encoded for the page library, and its answer checked.
func BenchmarkInvoke(b *testing.B) {
	seen := `{"state":"visible","rendered":true,"visible":true,"clickable":true,"receives_events":true,` +
		`"fully_visible":true,"bounding_box":{"x":8,"y":720,"width":38.5,"height":21,"left":8,"top":720,"right":46.5,` +
		`"bottom":741},` +
		`"visible_rect":{"x":8,"y":720,"width":38.5,"height":21,"left":8,"top":720,"right":46.5,"bottom":741},` +
		`"visible_ratio":1,"clipped_by":[],"action_point":{"x":27.25,"y":730.5},"occluded_by":null,` +
		`"scroll_operation":null}`
	told := `"tag_name":"button","text":"Go","bounding_box":{"x":8,"y":720,"width":38.5,"height":21,"left":8,` +
		`"top":720,"right":46.5,"bottom":741},"clickable_center":{"x":27.25,"y":730.5},"clickable":true,"visibility":` +
		seen
	page := &canned{answer: json.RawMessage(`{"locator":{"selector":"#go"},` + told +
		`,"ambiguous":false,"candidate_count":1,"initial_visibility":` + seen +
		`,"scroll_operations_performed":[],"candidates":[{` + told + `}]}`)}
	registry := catalog.Standard()
	args := json.RawMessage(`{"locator":{"selector":"#go"}}`)
	b.ReportAllocs()
	for b.Loop() {
		if r := registry.Invoke(b.Context(), page, "locator.element_info", args); r.Err != nil {
			b.Fatal(r.Err)
		}
	}
}
