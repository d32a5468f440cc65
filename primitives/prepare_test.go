package primitives

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/outrider-run/outrider/primitives/arguments"
	"github.com/outrider-run/outrider/primitives/schema"
)

// Arguments that were met before must be taken like those that never were.
func TestPrepareTakesAllOfAShapeAlike(t *testing.T) {
	const text = `{"type":"object","additionalProperties":false,"required":["a"],"properties":{
		"a":{"type":"number"},"two_words":{"type":"string","x_aliases":["tw"]},"mode":{"enum":["x","y"]},"effects":{},
		"locator":{"type":"object","properties":{"nth":{"type":"integer"}},"additionalProperties":false}}}`
	fresh := func() *checks {
		in, err := schema.Compile(json.RawMessage(text))
		if err != nil {
			t.Fatal(err)
		}
		fields, err := arguments.DeclaredBy(json.RawMessage(text))
		if err != nil {
			t.Fatal(err)
		}
		return &checks{in: in, fields: fields, effects: true, plain: in.Alike()}
	}
	members := [][]string{
		{
			`"a":3`, `"a":3.0`, `"a":3.5`, `"a":4`, `"a":4.00`, `"a":"4"`,
			`"a":1e2`, `"a":12345678901234567890123456789012`, `"\u0061":3`,
		},
		{``, ``, `"two_words":"q"`, `"two_words":"another"`, `"twoWords":"q"`, `"tw":"q"`, `"two_words":7`},
		{``, ``, `"mode":"x"`, `"mode":"y"`, `"mode":"z"`, `"mode":"\u0078"`},
		{
			``, ``, `"effects":true`, `"effects":false`,
			`"effects":{"window_ms":20}`, `"target_runtime_id":"r"`, `"unknown":1`,
		},
		{``, ``, `"locator":{"nth":1}`, `"locator":{"nth":1.0}`, `"locator":{"nth":1.5}`, `"locator":null`},
	}
	r := rand.New(rand.NewPCG(5, 6))
	old, taken := fresh(), 0
	for range 3000 {
		args := ""
		for _, m := range members {
			if s := m[r.IntN(len(m))]; s != "" && args != "" {
				args += ", " + s
			} else {
				args += s
			}
		}
		args = " {" + args + "}"
		got, gotWindow, gotErr := old.prepare(json.RawMessage(args), false)
		want, wantWindow, wantErr := fresh().prepare(json.RawMessage(args), false)
		if string(got) != string(want) || gotWindow != wantWindow || (gotErr == nil) != (wantErr == nil) {
			t.Fatalf("%s: got %s %v %v, want %s %v %v", args, got, gotWindow, gotErr, want, wantWindow, wantErr)
		}
		if _, met := old.plain.Met([]byte(args)); met {
			taken++
		}
	}
	if taken < 50 {
		t.Errorf("only %d of 3000 were met before", taken)
	}
}
