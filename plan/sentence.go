package plan

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/primitives/fault"
)

// sentence is an error on one line: what was looked for, what was there, and the nearest of it. Where
// that is not known it is the error's own line.
func sentence(e *fault.Error) string {
	raw, err := json.Marshal(e.Evidence)
	if err != nil || e.Code != fault.TargetNotFound {
		return e.Line()
	}
	var in struct {
		Locator   struct{ Role, Name string }
		Unmatched string
		Nearest   []string
		Matches   int `json:"role_matches"`
	}
	if json.Unmarshal(raw, &in) != nil || in.Unmatched != "name" {
		return e.Line()
	}
	if in.Locator.Role == "" || in.Locator.Name == "" || in.Matches == 0 || len(in.Nearest) == 0 {
		return e.Line()
	}
	near := in.Nearest[:min(len(in.Nearest), 3)]
	for i := range near {
		near[i] = strconv.Quote(report.Shorten(near[i], 80))
	}
	text := fmt.Sprintf("%s: %s named %q: ", e.Code, in.Locator.Role, report.Shorten(in.Locator.Name, 80))
	if in.Matches == 1 {
		return text + "there is 1 " + in.Locator.Role + ", " + near[0]
	}
	there := fmt.Sprintf("there are %s, the nearest ", report.Count(in.Matches, in.Locator.Role))
	return text + there + strings.Join(near, ", ")
}
