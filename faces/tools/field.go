package tools

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
)

// FieldTool finds the control that words name, as the fields of act do: by its label, its name or what stands beside
// it. It is no tool for agents: a face that takes words in place of a ref asks it for the ref.
func (s *Set) FieldTool() Tool {
	input := `{"type":"object","required":["field"],"properties":{"field":{"type":"string"},` +
		pageProperty + `,` + sessionProperty + `},"additionalProperties":false}`
	return newTool(
		"field", "Field", "The ref of a control.", input, pageResult, true,
		func(ctx context.Context, c *Call) (*Answer, *fault.Error) {
			var in struct {
				where
				Field string `json:"field"`
			}
			if err := c.Decode(&in); err != nil {
				return nil, err
			}
			c.waits = true // what came of earlier acts is told by the act that follows
			return c.on(ctx, in.where, func(p page) (*Answer, *fault.Error) {
				value, err := c.formRows(ctx, p, in.where)
				if err != nil {
					return nil, err
				}
				control, err := controlOf(rowsIn(value), in.Field)
				if err != nil {
					return nil, err
				}
				return &Answer{Result: map[string]any{"page": p.handle(), "ref": control.Ref}}, nil
			})
		},
	)
}

// formRows are the controls of a page.
func (c *Call) formRows(ctx context.Context, p page, w where) (json.RawMessage, *fault.Error) {
	args := map[string]any{
		"format":           "json",
		"interactive_only": true,
		"max_nodes":        findNodes,
		"max_bytes":        mostBytes,
	}
	value, _, err := c.do(ctx, p, "page.snapshot", args, w)
	return value, err
}
