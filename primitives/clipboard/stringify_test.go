package clipboard_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/session"
)

// insertDesk is a desk whose page keeps the text that is inserted.
type insertDesk struct {
	desk
	text string
}

func (d *insertDesk) Session() session.Session { return d }

func (d *insertDesk) Call(_ context.Context, _ primitives.FrameID, _ string, args, out any) error {
	b, err := json.Marshal(args)
	if err != nil {
		return err
	}
	var in struct{ Text string }
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	d.text = in.Text
	return json.Unmarshal([]byte(`{"inserted":true,"inserted_length":0}`), out)
}

// TestInsertedJSON: what transfer.insert puts into a page is what JSON.stringify
// gives of the value, whoever encoded it on the way, appended or not.
func TestInsertedJSON(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"escapes of Go", `["a\u0026b",{"x":"\u003cb\u003E"}]`, `["a&b",{"x":"<b>"}]`},
		{"as they are", `["a&b",{"x":"<b>"}]`, `["a&b",{"x":"<b>"}]`},
		{"line separators", `["\u2028\u2029"]`, "[\"\u2028\u2029\"]"},
		{"an escaped backslash before", `["\\u0026","\\\u0026"]`, `["\\u0026","\\&"]`},
		{"what must stay escaped", `["\u0022\u005c\u000a\u0001\t\/"]`, `["\"\\\n\u0001\t/"]`},
		{"letters and pairs", `["\u00e9\ud83d\ude00"]`, `["é😀"]`},
		{"half a pair", `["\ud83d","\uDE00\u0041","\ud83d\u0026"]`, `["\ud83d","\ude00A","\ud83d&"]`},
		{
			"order and numbers", `[{ "b": 1.50, "a": [1e6, 12345678901234567890] }]`,
			`[{"b":1.50,"a":[1e6,12345678901234567890]}]`,
		},
		{"names of members", `[{"a\u0026b":{}}]`, `[{"a&b":{}}]`},
	} {
		d := &insertDesk{}
		for _, write := range []string{
			`{"label":"once","format":"application/json","value":` + c.value + `}`,
			`{"label":"appended","format":"application/json","value":[]}`,
			`{"label":"appended","format":"application/json","mode":"append","value":` + c.value + `}`,
		} {
			if r := catalog.Standard().Invoke(t.Context(), d, "transfer.write", json.RawMessage(write)); r.Err != nil {
				t.Fatalf("%s: %v", c.name, r.Err)
			}
		}
		for _, args := range []string{
			`{"label":"once"}`, `{"label":"appended"}`, `{"label":"once","render":{"format":"application/json"}}`,
			`{"label":"once","render":{"template":"{{value}}"}}`,
		} {
			if r := catalog.Standard().Invoke(t.Context(), d, "transfer.insert", json.RawMessage(args)); r.Err != nil ||
				d.text != c.want {
				t.Errorf("%s: %s of %s inserts %s, want %s (%v)", c.name, args, c.value, d.text, c.want, r.Err)
			}
		}
	}
}
