package jsonata_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/outrider-run/outrider/projection/expr/jsonata"
)

func compile(t *testing.T, src string) *jsonata.Program {
	t.Helper()
	p, err := jsonata.Compile(src)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return p
}

func TestReads(t *testing.T) {
	for _, c := range []struct {
		expr string
		want []string
		all  bool
	}{
		{"1 + 2", nil, false},
		{"input.title", []string{"input"}, false},
		{"steps.find.output.x + index", []string{"steps", "index"}, false},
		{"records[a = b].c", []string{"records"}, false},
		{"records[a = $$.index]", []string{"records", "index"}, false},
		{"$.input", []string{"input"}, false},
		{"$", nil, true},
		{"$$", nil, true},
		{"*", nil, true},
		{"**.a", nil, true},
		{"$keys($)", nil, true},
		{"$string()", nil, true},
		{"input.$string()", []string{"input"}, false},
		{"$uppercase(input.title)", []string{"input"}, false},
		{"($f := $string; $f())", nil, true},
		{"records@$r.input.{'a': $r}", []string{"records", "input"}, false},
		{"records.%", nil, true},
		{"{'a': input, 'b': [steps]}", []string{"input", "steps"}, false},
		{"$map(records, function($r){$r.a & title})", []string{"records", "title"}, false},
		{"records^(a).b", []string{"records"}, false},
		{"records{k: v}", []string{"records"}, false},
		{"$eval('a')", nil, true},
		{"a ? b : c", []string{"a", "b", "c"}, false},
		{"input ~> $string", []string{"input"}, false},
		{"input ~> $string()", []string{"input"}, false},
	} {
		names, all := compile(t, c.expr).Reads()
		if all != c.all || !slices.Equal(names, c.want) {
			t.Errorf("%s: reads %v %v, want %v %v", c.expr, names, all, c.want, c.all)
		}
	}
}

func TestPureAndUses(t *testing.T) {
	for expr, pure := range map[string]bool{
		"a + 1": true, "$now()": false, "$millis()": false, "($r := $random; $r())": false,
		"x ~> $eval": false, "$shuffle(a)": false,
		"$toMillis('2020-01-01')": true, "$toMillis('10:00', '[H]:[m]')": false,
	} {
		if got := compile(t, expr).Pure(); got != pure {
			t.Errorf("%s: pure %v", expr, got)
		}
	}
	p := compile(t, "($e := $eval; $map(a, $sum))")
	if !p.Uses("eval") || !p.Uses("sum") || !p.Uses("map") || p.Uses("now") {
		t.Error("uses are wrong")
	}
}

func TestWarnings(t *testing.T) {
	for expr, want := range map[string]string{
		"a.b = null":                   jsonata.WarnNull,
		"null != a.b":                  jsonata.WarnNull,
		"$count(a.b) > 0":              jsonata.WarnCount,
		"records[x > 1]":               jsonata.WarnSingleton,
		"records[x > 1][]":             "",
		"records[0]":                   "",
		"a.b":                          "",
		"$filter(a, function($v){$v})": jsonata.WarnSingleton,
		"a.{'b': c}":                   jsonata.WarnSingleton,
		"$count(a)":                    "",
	} {
		got := ""
		if ws := compile(t, expr).Warnings(); len(ws) > 0 {
			got = ws[0].Code
		}
		if got != want {
			t.Errorf("%s: warning %q, want %q", expr, got, want)
		}
	}
}

func TestForbiddenBuiltins(t *testing.T) {
	lim := jsonata.Limits{Forbid: []string{"eval", "now", "millis", "random"}}
	for _, expr := range []string{
		"$eval('1')", "($e := $eval; $e('1'))", "'1' ~> $eval",
		"$map(['1'], $eval)", "$now()", "$eval(?)('1')", "$random()",
	} {
		_, err := compile(t, expr).Eval(context.Background(), jsonata.UndefinedInput(), lim)
		var e *jsonata.Error
		if !errors.As(err, &e) || e.Code != "L0006" {
			t.Errorf("%s: got %v", expr, err)
		}
	}
}

func TestInputs(t *testing.T) {
	p := compile(t, "{'t': input.title, 'n': $sum(list.n)}")
	want := `{"t":"x","n":3}`
	ordered := jsonata.Object{
		{Name: "list", Value: []any{jsonata.Object{{Name: "n", Value: json.Number("1")}}, map[string]any{"n": 2}}},
		{Name: "input", Value: map[string]any{"title": "x"}},
	}
	decoded, err := jsonata.DecodeInput([]byte(`{"input":{"title":"x"},"list":[{"n":1},{"n":2}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]jsonata.Input{
		"value": jsonata.ValueInput(ordered), "decoded": decoded,
		"text": jsonata.JSONInput(
			[]byte(` {"input":{"title":"x"},"unread":[[1,{"a":"]}"}]],"list":[{"n":1},{"n":2}]} `),
		),
		"members": jsonata.ObjectInput(
			jsonata.Member{Name: "input", JSON: []byte(`{"title":"x"}`)},
			jsonata.Member{Name: "unread", JSON: []byte(`never looked at`)},
			jsonata.Member{Name: "list", JSON: []byte(`[{"n":1},{"n":2}]`)},
		),
	} {
		r, err := p.Eval(context.Background(), in, jsonata.Limits{})
		if err != nil || string(r.JSON) != want {
			t.Errorf("%s: got %s %v", name, r.JSON, err)
		}
	}
	_, err = compile(t, "$").Eval(context.Background(), jsonata.JSONInput([]byte(`{"a":`)), jsonata.Limits{})
	var e *jsonata.Error
	if !errors.As(err, &e) || e.Code != "L1003" {
		t.Errorf("broken input: %v", err)
	}
}

func TestClockIsInjected(t *testing.T) {
	lim := jsonata.Limits{
		Now:    func() time.Time { return time.UnixMilli(1500000000000) },
		Random: func() float64 { return 0.25 },
	}
	r, err := compile(t, "[$millis(), $now(), $random()]").Eval(context.Background(), jsonata.UndefinedInput(), lim)
	if err != nil || string(r.JSON) != `[1500000000000,"2017-07-14T02:40:00.000Z",0.25]` {
		t.Errorf("got %s %v", r.JSON, err)
	}
}

func TestBudgetsAreNamed(t *testing.T) {
	for _, c := range []struct {
		expr   string
		lim    jsonata.Limits
		budget string
	}{
		{"$map([1..1000], function($x){$x})", jsonata.Limits{Steps: 100}, "steps"},
		{"($f := function($x){1 + $f($x)}; $f(1))", jsonata.Limits{Depth: 10}, "depth"},
		{"[1..100]", jsonata.Limits{SequenceLength: 10}, "sequence"},
		{"$pad('x', 1000)", jsonata.Limits{Bytes: 500}, "bytes"},
		{"$contains('aaaaaaaaaaaaaaaaaaaaaaaab', /^(a+)+$/)", jsonata.Limits{RegexSteps: 1000}, "regex_steps"},
		{"$pad('x', 1000)", jsonata.Limits{OutputBytes: 100}, "output_bytes"},
	} {
		_, err := compile(t, c.expr).Eval(context.Background(), jsonata.UndefinedInput(), c.lim)
		var e *jsonata.Error
		if !errors.As(err, &e) || e.Budget != c.budget {
			t.Errorf("%s: got %v, want budget %s", c.expr, err, c.budget)
		}
	}
}

// A transform whose pattern leads out of its argument changes the objects it
// finds there, as in jsonata-js; never those of an input that others share.
func TestTransformLeavesTheSharedInputAlone(t *testing.T) {
	const text = `{"a":{"b":1,"c":[{"d":1}]},"n":0.1234567890123456}`
	in, err := jsonata.DecodeInput([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ expr, want string }{
		{`({} ~> |$$.a|{"b":2}|; $$.a.b)`, `2`},
		{`($x := a; {} ~> |$x|{"b":2}, "c"|; $x)`, `{"b":2}`},
		{`({} ~> |$lookup($$, "a").c|{"d":2}|; $$.a.c.d & $$.n)`, `"20.123456789012346"`},
		{`($f := function(){a.c}; {} ~> |$f()|{"d":2}|; a.c.d)`, `2`},
		{`($eval("{} ~> |$$.a|{'b':2}|"); $$.a.b)`, `2`},
		{`($ ~> |a|{"b":2}|; $$.a.b)`, `1`},
		{`$$`, text},
	} {
		res, err := compile(t, c.expr).Eval(t.Context(), in, jsonata.Limits{})
		if err != nil || string(res.JSON) != c.want {
			t.Errorf("%s: got %s, %v, want %s", c.expr, res.JSON, err, c.want)
		}
		after, err := compile(t, "$").Eval(t.Context(), in, jsonata.Limits{})
		if err != nil || string(after.JSON) != text {
			t.Errorf("%s left the input as %s, %v, want %s", c.expr, after.JSON, err, text)
		}
	}
}
