package arguments

import (
	"encoding/json"
	"math"
	"testing"
)

func TestCoordinate(t *testing.T) {
	for _, c := range []struct {
		in    string
		given bool
		want  float64
	}{
		{`null`, false, 0},
		{`""`, false, 0},
		{`" \t"`, false, 0},
		{`0`, true, 0},
		{`-1.5`, true, -1.5},
		{`1e2`, true, 100},
		{`"12"`, true, 12},
		{`" 12.5 "`, true, 12.5},
		{`"1e1"`, true, 10},
		{`"0x1F"`, true, 31},
		{`"+3"`, true, 3},
		{`".5"`, true, .5},
		{`"5."`, true, 5},
		{`"Infinity"`, true, math.Inf(1)},
		{`"-Infinity"`, true, math.Inf(-1)},
		{`"1e999"`, true, math.Inf(1)},
		{`"12px"`, true, math.NaN()},
		{`"inf"`, true, math.NaN()},
		{`"nan"`, true, math.NaN()},
		{`"NaN"`, true, math.NaN()},
		{`"1_000"`, true, math.NaN()},
		{`"0x"`, true, math.NaN()},
		{`"0x1p4"`, true, math.NaN()},
		{`"1,5"`, true, math.NaN()},
	} {
		var got Coordinate
		if err := json.Unmarshal([]byte(c.in), &got); err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if got.Given != c.given || got.Given && got.Value != c.want && !(math.IsNaN(got.Value) && math.IsNaN(c.want)) {
			t.Errorf("%s: got %v %v, want %v %v", c.in, got.Given, got.Value, c.given, c.want)
		}
		if back, err := json.Marshal(got); err != nil || string(back) != c.in {
			t.Errorf("%s: evidence is %s, %v", c.in, back, err)
		}
	}
}

func TestNumberText(t *testing.T) {
	for in, want := range map[string]string{
		`1`:                     "1",
		`1.50`:                  "1.5",
		`-0.25`:                 "-0.25",
		`1e21`:                  "1e+21",
		`123456789012345680000`: "123456789012345680000",
		`1e-7`:                  "1e-7",
		`0.000001`:              "0.000001",
		`-1.5e300`:              "-1.5e+300",
		`true`:                  "true",
		`"é\n"`:                 "é\n",
		`0`:                     "0",
	} {
		var got Text
		if err := json.Unmarshal([]byte(in), &got); err != nil || string(got) != want {
			t.Errorf("%s: got %q %v, want %q", in, got, err, want)
		}
	}
}
