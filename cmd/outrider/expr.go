package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/projection/expr/explain"
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
				data, err = os.ReadFile(input)
				if err != nil {
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
			x := explain.Evaluate(cmd.Context(), engine, args[0], members)
			switch {
			case a.json:
				a.printJSON(x)
				return verdict(x.OK, true)
			case x.Defined():
				a.printResult(x.Value)
			}
			x.Print(a.stderr)
			if x.Error != nil {
				return x.Error
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&input, "input", "", "JSON file with the object that the expression sees")
	cmd.Flags().StringVar(&engineName, "expr-engine", "", "JSONata engine: native or blues (default "+expr.Default+")")
	return cmd
}
