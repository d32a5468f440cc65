package fault

import "encoding/json"

// UnmarshalJSON reads what MarshalJSON writes. Severity is that of the code, and
// members beside the known ones become Fields.
func (e *Error) UnmarshalJSON(raw []byte) error {
	var known struct {
		Code        Code           `json:"code"`
		Message     string         `json:"message"`
		Recoverable *bool          `json:"recoverable"`
		Evidence    map[string]any `json:"evidence"`
		NextStep    string         `json:"next_step"`
	}
	if err := json.Unmarshal(raw, &known); err != nil {
		return err
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	for _, k := range []string{"code", "message", "severity", "recoverable", "evidence", "next_step"} {
		delete(fields, k)
	}
	*e = Error{Code: known.Code, Message: known.Message, Evidence: known.Evidence, NextStep: known.NextStep}
	if len(fields) > 0 {
		e.Fields = fields
	}
	if spec, ok := Lookup(e.Code); known.Recoverable != nil && (!ok || spec.Recoverable != *known.Recoverable) {
		e.Recoverable = known.Recoverable
	}
	return nil
}
