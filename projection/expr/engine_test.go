package expr_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
)

// engines are tested for everything that must hold whatever evaluates.
var engines = []string{expr.Native, expr.Blues}

func eachEngine(t *testing.T, f func(t *testing.T, e expr.Engine)) {
	for _, name := range engines {
		t.Run(name, func(t *testing.T) {
			e, err := expr.New(name, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = e.Close() })
			f(t, e)
		})
	}
}

func input(object string) expr.Input {
	d := json.NewDecoder(strings.NewReader(object))
	_, _ = d.Token()
	var in expr.Input
	for d.More() {
		k, _ := d.Token()
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			panic(err)
		}
		in = append(in, expr.Member{Name: k.(string), JSON: v})
	}
	return in
}

func eval(t *testing.T, e expr.Engine, src, in string, l expr.Limits) (expr.Value, error) {
	t.Helper()
	p, err := e.Compile(src)
	if err != nil {
		return expr.Value{}, err
	}
	return p.Eval(t.Context(), input(in), l)
}

const workflowInput = `{"input":{"title":"Fix","none":null,"tags":[],"n":2,"items":["a","b"],"d":"<é>"},
	"steps":{"find":{"ok":true,"output":{"clickable_center":{"x":120.5,"y":44},"matches":[{"text":"one"},{"text":"two"}]}}},
	"item":null,"index":null}`

func TestValues(t *testing.T) {
	tests := []struct{ src, want string }{
		{`steps.find.output.clickable_center.x`, `120.5`},
		{`steps.find.output.clickable_center`, `{"x":120.5,"y":44}`},
		{`steps.find.output.missing`, `undefined`},
		{`steps.missing.output.x = null`, `false`},
		{`input.none`, `null`},
		{`input.none = null`, `true`},
		{`$exists(steps.find.output.clickable_center)`, `true`},
		{`$exists(steps.none)`, `false`},
		{`{'title': input.title, 'a': [input.n, input.n + 0.5]}`, `{"title":"Fix","a":[2,2.5]}`},
		{`{'z': 1, 'a': 2}`, `{"z":1,"a":2}`},
		{`steps.find.output.matches[text = 'two'].text`, `"two"`},
		{`steps.find.output.matches.text`, `["one","two"]`},
		{`$filter(input.items, function($v) { $v = 'a' })`, `"a"`},
		{`$filter(input.items, function($v) { $v = 'z' })`, `undefined`},
		{`$append([], input.title)`, `["Fix"]`},
		{`$map(input.items, function($v, $i) { $v & $i })`, `["a0","b1"]`},
		{`$$.input.n * 2`, `4`},
		{`input.d & '/' & input.n`, `"<é>/2"`},
		{`$count(steps.find.output.matches) > 1 ? 'many' : 'one'`, `"many"`},
		{`/* note */ input.n`, `2`},
		{`input."title"`, `"Fix"`},
		{`$sum([1..4]) ~> $string()`, `"10"`},
		{`[1..3]`, `[1,2,3]`},
		{`1e21`, `1e+21`},
		{`-0`, `0`},
		{`index`, `null`},
	}
	eachEngine(t, func(t *testing.T, e expr.Engine) {
		for _, tt := range tests {
			v, err := eval(t, e, tt.src, workflowInput, expr.Limits{})
			got := string(v.JSON)
			if v.Undefined {
				got = "undefined"
			}
			if err != nil || got != tt.want {
				t.Errorf("%s = %s, %v; want %s", tt.src, got, err, tt.want)
			}
		}
	})
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name, src string
		code      fault.Code
		evidence  string // key that must be there
	}{
		{"empty", ``, fault.InvalidExpression, ""},
		{"does not parse", `a +`, fault.InvalidExpression, "jsonata_code"},
		{"unbalanced", `(a`, fault.InvalidExpression, "jsonata_code"},
		{"string without end", `'a`, fault.InvalidExpression, "jsonata_code"},
		{"comment without end", `a /* b`, fault.InvalidExpression, ""},
		{"not UTF-8", "a\xff", fault.InvalidExpression, ""},
		{"text too long", strings.Repeat(" ", expr.MaxSource) + "a", fault.InvalidExpression, "budget"},
		{"a million brackets", strings.Repeat("[", 1_000_000), fault.InvalidExpression, ""},
		{"as many brackets as fit", strings.Repeat("[", expr.MaxSource), fault.InvalidExpression, ""},
		{"eval", `$eval('1')`, fault.DisallowedExpressionFunction, "function"},
		{"random with space", "$Random \n()", fault.DisallowedExpressionFunction, "function"},
		{"now in a string", `'$now()'`, fault.DisallowedExpressionFunction, "function"},
		{"alias of now", `($f := $now; $f())`, fault.DisallowedExpressionFunction, "function"},
		{"alias of millis", `($f := $millis; $f())`, fault.DisallowedExpressionFunction, "function"},
		{"applied eval", `'1' ~> $eval`, fault.DisallowedExpressionFunction, "function"},
		{"random as an argument", `$map([1], $random)`, fault.DisallowedExpressionFunction, "function"},
		{"type error", `'a' + 1`, fault.ExpressionEvaluationFailed, "jsonata_code"},
		{"not a function", `$nothing(1)`, fault.ExpressionEvaluationFailed, "jsonata_code"},
		{"range too long", `[1..100000000]`, fault.ExpressionEvaluationFailed, "jsonata_code"},
	}
	eachEngine(t, func(t *testing.T, e expr.Engine) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				v, err := eval(t, e, tt.src, workflowInput, expr.Limits{})
				if got := fault.CodeOf(err); got != tt.code {
					t.Fatalf("%.60q = %.60s, %v; want %s", tt.src, v.JSON, err, tt.code)
				}
				if _, ok := fault.From(err).Evidence[tt.evidence]; tt.evidence != "" && !ok {
					t.Errorf("%.60q: evidence %v has no %s", tt.src, fault.From(err).Evidence, tt.evidence)
				}
			})
		}
	})
}

func TestOutputLimit(t *testing.T) {
	eachEngine(t, func(t *testing.T, e expr.Engine) {
		for _, tt := range []struct {
			src   string
			limit int
			code  fault.Code
		}{
			{`'abcdefgh'`, 10, ""},
			{`'abcdefghi'`, 10, fault.ExpressionOutputTooLarge},
			{`'éééé'`, 10, ""},
			{`'ééééé'`, 10, fault.ExpressionOutputTooLarge},
			{`$pad('', 15998, 'x')`, 0, ""},
			{`$pad('', 15999, 'x')`, 0, fault.ExpressionOutputTooLarge},
		} {
			if v, err := eval(t, e, tt.src, `{}`, expr.Limits{OutputBytes: tt.limit}); fault.CodeOf(err) != tt.code {
				t.Errorf("%s within %d bytes = %.30s, %v; want %q", tt.src, tt.limit, v.JSON, err, tt.code)
			}
		}
	})
}

// The worst that an expression can do is to fail: within its time, and without
// harm to this process or to the next evaluation.
func TestWorstCases(t *testing.T) {
	tests := []struct{ name, src string }{
		{"endless recursion", `($f := function($x) { 1 + $f($x) }; $f(1))`},
		{"mutual recursion in arrays", `($f := function($x) { [$g($x)] }; $g := function($x) { [$f($x)] }; $f(1))`},
		{"self application", `(function($f) { 1 + $f($f) })(function($f) { 1 + $f($f) })`},
		{"recursion through map", `($f := function($x) { $map([1, 2], function($v) { $f($v) }) }; $f(1))`},
		{"tail loop", `($f := function($x) { $f($x) }; $f(1))`},
		{"ten million items", `$sum([1..10000000])`},
		{"ranges in ranges", `[1..10000].([1..10000])`},
		{"cube of a thousand", `$count([1..1000].([1..1000].([1..1000])))`},
		{
			"string doubling",
			`($f := function($s, $n) { $n = 0 ? $s : $f($s & $s, $n - 1) }; $length($f('xxxxxxxx', 30)))`,
		},
		{
			"array doubling",
			`($f := function($s, $n) { $n = 0 ? $s : $f($append($s, $s), $n - 1) }; $count($f([1, 2, 3], 28)))`,
		},
		{"giant pad", `$length($pad('x', 2000000000))`},
		{
			"shared tree",
			`($f := function($s, $n) { $n = 0 ? $s : $f([$s, $s], $n - 1) }; $length($string($f('x', 28))))`,
		},
		{"never ends", `($f := function($n) { $n < 0 ? 0 : $f($n + 1) }; $f(0))`},
	}
	eachEngine(t, func(t *testing.T, e expr.Engine) {
		if _, err := eval(t, e, `1`, `{}`, expr.Limits{}); err != nil {
			t.Fatal(err)
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				start := time.Now()
				v, err := eval(t, e, tt.src, `{}`, expr.Limits{})
				took := time.Since(start)
				// The limit is 1 s; the rest is for a machine that is busy.
				if took > 30*time.Second {
					t.Errorf("took %v", took)
				}
				switch fault.CodeOf(err) {
				case fault.ExpressionLimitExceeded, fault.ExpressionEvaluationFailed:
				default:
					t.Fatalf("= %.40s, %v; want expression_limit_exceeded", v.JSON, err)
				}
				if v, err := eval(t, e, `1 + 1`, `{}`, expr.Limits{}); err != nil || string(v.JSON) != "2" {
					t.Errorf("afterwards 1 + 1 = %s, %v", v.JSON, err)
				}
			})
		}
		t.Run("as many minus signs as fit", func(t *testing.T) {
			// An engine may refuse the nesting or bear it.
			v, err := eval(t, e, strings.Repeat("-", expr.MaxSource-1)+"1", `{}`, expr.Limits{})
			if err == nil && string(v.JSON) != "-1" || err != nil && !errors.Is(err, fault.InvalidExpression) &&
				!errors.Is(err, fault.ExpressionLimitExceeded) {
				t.Errorf("= %s, %v", v.JSON, err)
			}
		})
		t.Run("catastrophic regex", func(t *testing.T) {
			// An engine may also answer at once.
			start := time.Now()
			v, err := eval(t, e, `$match('`+strings.Repeat("a", 40)+`!', /^(a+)+$/)`, `{}`, expr.Limits{})
			if err == nil && !v.Undefined || err != nil && !errors.Is(err, fault.ExpressionLimitExceeded) ||
				time.Since(start) > 30*time.Second {
				t.Errorf("= %s, %v after %v", v.JSON, err, time.Since(start))
			}
		})
	})
}

func TestContextEndsAnEvaluation(t *testing.T) {
	const endless = `($f := function($n) { $n < 0 ? 0 : $f($n + 1) }; $f(0))`
	eachEngine(t, func(t *testing.T, e expr.Engine) {
		p, err := e.Compile(endless)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		start := time.Now()
		if _, err := p.Eval(ctx, nil, expr.Limits{Time: time.Minute}); !errors.Is(err, fault.Cancelled) ||
			time.Since(start) > 30*time.Second {
			t.Errorf("cancelled: %v after %v", err, time.Since(start))
		}
		ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := p.Eval(ctx, nil, expr.Limits{Time: time.Minute}); !errors.Is(err, fault.Timeout) {
			t.Errorf("deadline of the call: %v, want timeout", err)
		}
		_, err = p.Eval(t.Context(), nil, expr.Limits{Time: 50 * time.Millisecond})
		if !errors.Is(err, fault.ExpressionLimitExceeded) || fault.From(err).Evidence["budget"] == nil {
			t.Errorf("own limit: %v, want expression_limit_exceeded with its budget", err)
		}
	})
}

func TestConcurrentEvaluationsDoNotMix(t *testing.T) {
	eachEngine(t, func(t *testing.T, e expr.Engine) {
		p, err := e.Compile(`[records[v > 1].n ~> $join(','), name.$uppercase()]`)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				id := string(rune('a' + g))
				in := input(`{"name":"` + id + `","records":[{"n":"` + id + `1","v":1},{"n":"` + id +
					`2","v":2},{"n":"` + id + `3","v":3}]}`)
				want := `["` + id + `2,` + id + `3","` + strings.ToUpper(id) + `"]`
				for range 50 {
					if v, err := p.Eval(context.Background(), in, expr.Limits{Time: 20 * time.Second}); err != nil ||
						string(v.JSON) != want {
						t.Errorf("got %s, %v; want %s", v.JSON, err, want)
						return
					}
				}
			})
		}
		wg.Wait()
	})
}

func TestNewRefusesAnUnknownEngine(t *testing.T) {
	if _, err := expr.New("perl", nil); !errors.Is(err, fault.InvalidInput) {
		t.Errorf("New(perl) = %v", err)
	}
}
