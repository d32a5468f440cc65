package projection

import (
	"encoding/json"

	"github.com/outrider-run/outrider/projection/expr"
)

// RecordsOf makes the records of an extract list from the values of its main
// frame, without a page.
func RecordsOf(extract string, engine expr.Engine, values []byte) ([]json.RawMessage, error) {
	p, problems := Compile(json.RawMessage(`{"name":"n","snapshot":{"version":1,"source":"dom","extract":`+extract+
		`,"projection":{"language":"jsonata","expression":"1"}}}`), engine)
	if len(problems) > 0 {
		panic(problems[0].Message)
	}
	return readRecords(values, p.plan.frames[0].shapes, DefaultLimits)
}
