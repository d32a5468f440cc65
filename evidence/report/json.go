package report

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Past is what a later report needs of an earlier run.
type Past struct {
	StartedAt string
	Outcomes  map[string]Outcome // by the key of the test
}

// key names a test across runs.
func key(path []string, t *Test) string {
	k, err := json.Marshal([]any{path, t.Class, t.Name})
	if err != nil {
		return ""
	}
	return string(k)
}

// JSON is the result of the verb with one member more, report: the totals and the
// suites.
func JSON(r Run) ([]byte, error) {
	model, err := json.Marshal(struct {
		Totals Totals `json:"totals"`
		Run
	}{r.Total(), r})
	if err != nil {
		return nil, err
	}
	all := append([]byte(`{"report":`), append(model, '}')...)
	if r.Result != nil {
		result, err := json.Marshal(r.Result)
		if err != nil {
			return nil, err
		}
		if head, ok := bytes.CutSuffix(result, []byte("}")); ok && len(head) > 1 {
			all = append(append(head, ','), all[1:]...)
		}
	}
	var out bytes.Buffer
	if err := json.Indent(&out, all, "", "  "); err != nil {
		return nil, err
	}
	return append(out.Bytes(), '\n'), nil
}

// ReadPast reads the JSON report of an earlier run.
func ReadPast(content []byte) (Past, error) {
	var in struct {
		Report *Run `json:"report"`
	}
	if err := json.Unmarshal(content, &in); err != nil {
		return Past{}, fmt.Errorf("expected a json report: %w", err)
	}
	if in.Report == nil {
		return Past{}, fmt.Errorf("expected a json report: it has no member %q", "report")
	}
	p := Past{StartedAt: in.Report.StartedAt, Outcomes: map[string]Outcome{}}
	in.Report.Each(func(path []string, t *Test) { p.Outcomes[key(path, t)] = t.Outcome })
	return p, nil
}
