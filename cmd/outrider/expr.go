package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/projection/expr"
)

func (a *app) exprCommand() *cobra.Command {
	var input, engineName string
	cmd := &cobra.Command{
		Use:     "expr EXPR",
		Short:   "Evaluate one JSONata expression and explain it",
		Example: `  outrider expr '$sum(items.price)' --input data.json`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			data := []byte("{}")
			if input != "" {
				var err error
				if data, err = os.ReadFile(input); err != nil {
					return usage("reading --input: %w", err)
				}
			}
			members, err := expr.ParseInput(data)
			if err != nil {
				return usage("--input is not a JSON object: %w", err)
			}
			engine, err := expr.New(engineName, nil)
			if err != nil {
				return usage("--expr-engine is %q: expected native or blues", engineName)
			}
			defer engine.Close()
			x := explained{Engine: engine.Name()}
			program, err := engine.Compile(args[0])
			if err != nil {
				return a.explainError(args[0], x, err)
			}
			began := time.Now()
			var v expr.Value
			if e, ok := program.(expr.Explainer); ok {
				x.Warnings = e.Warnings()
				var used expr.Usage
				v, used, err = e.Explain(cmd.Context(), members, expr.Limits{})
				x.Budget.Usage = &used
			} else {
				v, err = program.Eval(cmd.Context(), members, expr.Limits{})
			}
			x.Budget.DurationUS = time.Since(began).Microseconds()
			if err != nil {
				return a.explainError(args[0], x, err)
			}
			x.OK, x.Kind, x.Value = true, "undefined", nullIfEmpty(v.JSON)
			if !v.Undefined {
				x.Kind = kindOf(v.JSON)
			}
			if a.json {
				a.printJSON(x.orEmpty())
				return nil
			}
			if !v.Undefined {
				a.printResult(v.JSON)
			}
			fmt.Fprintf(a.stderr, "%s, %d bytes (%s engine)\n", x.Kind, len(v.JSON), x.Engine)
			a.printExplained(args[0], x)
			return nil
		},
	}
	cmd.Flags().StringVar(&input, "input", "", "JSON file with the object that the expression sees")
	cmd.Flags().StringVar(&engineName, "expr-engine", "", "JSONata engine: native or blues (default "+expr.Default+")")
	return cmd
}

func nullIfEmpty(v json.RawMessage) json.RawMessage {
	if len(v) == 0 {
		return json.RawMessage("null")
	}
	return v
}

func kindOf(v json.RawMessage) string {
	switch v[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}
