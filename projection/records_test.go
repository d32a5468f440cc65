package projection_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/projection"
)

const shapesExtract = `[
	{"id":"list","selector":"x","fields":{"a":{},"b":{"selector":"y","many":true,"fields":{"c":{}}},"d":{"fields":{"e":{},"\"f":{}}}}},
	{"id":"one","selector":"x","many":false,"fields":{"a":{}}},
	{"id":"none","selector":"x","fields":{}},
	{"id":"texts"}]`

func TestRecordsOfValues(t *testing.T) {
	for _, c := range []struct{ name, values, want string }{
		{"nothing", `[0,0,null,0,0]`, `[] null [] []`},
		{"everything", `[2,"x",2,"p","q",1,"e",null,"y",0,0,{"deep":[1,"]"]},1,true,2,2,"a\"],","b"]`,
			`[{"a":"x","b":[{"c":"p"},{"c":"q"}],"d":{"e":"e","\"f":null}},{"a":"y","b":[],"d":{"deep":[1,` +
				`"]"]}}] {"a":true} [{},{}] ["a\"],","b"]`},
		{"too few", `[2,"x"]`, ``},
		{"too many", `[0,0,null,0,0,1]`, ``},
		{"no list", `{"a":1}`, ``},
		{"empty", `[]`, ``},
		{"nothing at all", ``, ``},
		{"a count that is no count", `["2",0,null,0,0]`, ``},
		{"a negative count", `[-1,0,null,0,0]`, ``},
		{"a count beyond the limit", `[200001,0,null,0,0]`, ``},
		{"a huge count", `[99999999999999999999,0,null,0,0]`, ``},
		{"an empty value", `[0,0,,0,0]`, ``},
		{"an open string", `[0,0,"x,0,0]`, ``},
		{"a bracket too many", `[0,0,],0,0]`, ``},
		{"an open bracket", `[0,0,[,0,0]`, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := projection.RecordsOf(shapesExtract, engine(t), []byte(c.values))
			if c.want == "" {
				if err == nil {
					t.Errorf("%s was read as %s", c.values, got)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", c.values, err)
			}
			var parts []string
			for _, g := range got {
				parts = append(parts, string(g))
			}
			if joined := strings.Join(parts, " "); joined != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.values, joined, c.want)
			}
		})
	}
}

// Names are not in the answer, so a short one can mean long records.
func TestRecordsAreBounded(t *testing.T) {
	extract := `[{"id":"r","selector":"x","fields":{"` + strings.Repeat("n", 10_000) + `":{}}}]`
	values := "[1000" + strings.Repeat(",1", 1000) + "]"
	if got, err := projection.RecordsOf(extract, engine(t), []byte(values)); err == nil {
		t.Errorf("%d values with a name of 10,000 bytes gave %d bytes", 1000, len(got[0]))
	}
}

// What is read of any list of JSON is JSON, and bounded.
func FuzzRecordsOfValues(f *testing.F) {
	for _, s := range []string{
		`[2,"x",2,"p","q",1,"e",null,"y",0,0,{"d":[1,"]"]},1,true,2,2,"a","b"]`, `[0,0,null,0,0]`, `[1]`,
	} {
		f.Add(s)
	}
	e := engine(f)
	f.Fuzz(func(t *testing.T, values string) {
		got, err := projection.RecordsOf(shapesExtract, e, []byte(values))
		if err != nil || !json.Valid([]byte(values)) {
			return
		}
		for _, g := range got {
			if !json.Valid(g) {
				t.Errorf("%s gave %s", values, g)
			}
		}
	})
}
