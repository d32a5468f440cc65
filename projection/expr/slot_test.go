package expr_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
)

func TestSlot(t *testing.T) {
	tests := []struct {
		name, in, src string
		ok            bool
		code          fault.Code
	}{
		{name: "plain text", in: "hello"},
		{name: "empty", in: ""},
		{name: "slot", in: "{% a.b %}", src: "a.b", ok: true},
		{name: "space around", in: " \n\t{%a%}\u00a0\ufeff", src: "a", ok: true},
		{name: "lines", in: "{%\n a\n + b\n%}", src: "a\n + b", ok: true},
		{name: "empty slot", in: "{%%}", src: "", ok: true},
		{name: "braces inside", in: "{% {'a': 1} %}", src: "{'a': 1}", ok: true},
		{name: "two slots read as one", in: "{% a %} and {% b %}", src: "a %} and {% b", ok: true},
		{name: "text before", in: "x {% a %}", code: fault.PartialExpressionUnsupported},
		{name: "text after", in: "{% a %} x", code: fault.PartialExpressionUnsupported},
		{name: "only open", in: "{% a", code: fault.PartialExpressionUnsupported},
		{name: "only close", in: "a %}", code: fault.PartialExpressionUnsupported},
		{name: "markers share the percent sign", in: "{%}", code: fault.PartialExpressionUnsupported},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src, ok, err := expr.Slot(tt.in)
			if src != tt.src || ok != tt.ok || fault.CodeOf(err) != tt.code {
				t.Errorf("Slot(%q) = %q, %v, %v; want %q, %v, %q", tt.in, src, ok, err, tt.src, tt.ok, tt.code)
			}
		})
	}
}

func TestTruthy(t *testing.T) {
	for text, want := range map[string]bool{
		`false`: false, `null`: false, `0`: false, `-0`: false, `0.0`: false,
		`0e9`: false, `-0.0E+2`: false, `""`: false, ` "" `: false, ``: false,
		`true`: true, `1`: true, `-1`: true, `1e999`: true, `0.1`: true,
		`"false"`: true, `"0"`: true, `" "`: true, `[]`: true, `{}`: true, `[0]`: true,
	} {
		if got := expr.Truthy(expr.Value{JSON: json.RawMessage(text)}); got != want {
			t.Errorf("Truthy(%s) = %v, want %v", text, got, want)
		}
	}
	if expr.Truthy(expr.Value{Undefined: true}) {
		t.Error("Truthy(undefined) = true")
	}
}

// echo is an engine whose expressions are their own value: "undefined", "fail"
// or JSON text.
type echo struct{}

func (echo) Name() string { return "echo" }
func (echo) Close() error { return nil }
func (echo) Compile(src string) (expr.Program, error) {
	if strings.HasPrefix(src, "!") {
		return nil, fault.New(fault.InvalidExpression, "does not parse").With("position", 0)
	}
	return echoProgram(src), nil
}

type echoProgram string

var errShared = fault.New(fault.ExpressionEvaluationFailed, "failed").With("jsonata_code", "T1000")

func (p echoProgram) Source() string { return string(p) }
func (p echoProgram) Eval(_ context.Context, in expr.Input, _ expr.Limits) (expr.Value, error) {
	switch p {
	case "undefined":
		return expr.Value{Undefined: true}, nil
	case "fail":
		return expr.Value{}, errShared
	case "input":
		return expr.Value{JSON: in.JSON()}, nil
	}
	return expr.Value{JSON: json.RawMessage(p)}, nil
}

func TestTemplate(t *testing.T) {
	tests := []struct {
		name, in, want string
		undefined      bool
		constant       bool
	}{
		{name: "nothing", in: ``, undefined: true, constant: true},
		{
			name:     "constant object",
			in:       ` { "b" : 1.50, "a":[ 1e3, -0 ] } `,
			want:     `{"b":1.50,"a":[1e3,-0]}`,
			constant: true,
		},
		{name: "constant string with escapes", in: `"\u0041\/<"`, want: `"\u0041\/<"`, constant: true},
		{
			name:     "constant scalars",
			in:       `[true,false,null,12345678901234567890]`,
			want:     `[true,false,null,12345678901234567890]`,
			constant: true,
		},
		{name: "whole slot", in: `"{% {\"a\":1} %}"`, want: `{"a":1}`},
		{name: "whole slot undefined", in: `"{% undefined %}"`, undefined: true},
		{
			name: "order and numbers kept",
			in:   `{"z":1.0,"{% 1 %}":"{% 2 %}","a":{"q":[1e2,"{% 3 %}"]}}`,
			want: `{"z":1.0,"{% 1 %}":2,"a":{"q":[1e2,3]}}`,
		},
		{
			name: "undefined member vanishes",
			in:   `{"a":"{% undefined %}","b":1,"c":"{% undefined %}","d":"{% 2 %}"}`,
			want: `{"b":1,"d":2}`,
		},
		{name: "all members vanish", in: `{"a":{"b":"{% undefined %}"}}`, want: `{"a":{}}`},
		{name: "undefined element is null", in: `["{% undefined %}",1,"{% undefined %}"]`, want: `[null,1,null]`},
		{name: "empty containers", in: `[{},[],"{% 1 %}"]`, want: `[{},[],1]`},
		{
			name:     "member twice has the last value at the first place",
			in:       `{"a":1,"b":2,"a":3}`,
			want:     `{"a":3,"b":2}`,
			constant: true,
		},
		{name: "member twice, slot loses", in: `{"a":"{% 1 %}","b":2,"a":3}`, want: `{"a":3,"b":2}`},
		{name: "input", in: `{"v":"{% input %}"}`, want: `{"v":{"k":[1, 2]}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tpl, err := expr.CompileTemplate(echo{}, json.RawMessage(tt.in))
			if err != nil {
				t.Fatalf("CompileTemplate(%s): %v", tt.in, err)
			}
			if tpl.Constant() != tt.constant {
				t.Errorf("Constant() = %v, want %v", tpl.Constant(), tt.constant)
			}
			for range 2 { // nothing of an evaluation may stay behind
				got, undefined, err := tpl.Eval(
					context.Background(), expr.Input{{Name: "k", JSON: json.RawMessage(`[1, 2]`)}}, expr.Limits{},
				)
				if err != nil || undefined != tt.undefined || string(got) != tt.want {
					t.Errorf("Eval(%s) = %s, %v, %v; want %s, %v", tt.in, got, undefined, err, tt.want, tt.undefined)
				}
			}
		})
	}
}

func TestTemplateErrorsCarryPointers(t *testing.T) {
	in := json.RawMessage(`{"a~/b":["x",{"c":"{% fail %}"}],"d":"x {% 1 %}","e":"{% ! %}"}`)
	_, errs := expr.CheckTemplate(echo{}, in)
	var got []string
	for _, err := range errs {
		got = append(got, string(fault.CodeOf(err))+" "+expr.Pointer(err))
	}
	if want := "partial_expression_unsupported /d,invalid_expression /e"; strings.Join(got, ",") != want {
		t.Errorf("CheckTemplate: %q, want %q", got, want)
	}
	if _, err := expr.CompileTemplate(echo{}, in); expr.Pointer(err) != "/d" {
		t.Errorf("CompileTemplate: %v, want the error at /d", err)
	}

	tpl, err := expr.CompileTemplate(echo{}, json.RawMessage(`{"a~/b":["x",{"c":"{% fail %}"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = tpl.Eval(context.Background(), nil, expr.Limits{})
	if !errors.Is(err, fault.ExpressionEvaluationFailed) || expr.Pointer(err) != "/a~0~1b/1/c" {
		t.Errorf("Eval: %v with pointer %q, want /a~0~1b/1/c", err, expr.Pointer(err))
	}
	if _, leaked := errShared.Evidence["pointer"]; leaked {
		t.Error("the error that the program returned was written to")
	}
	for _, bad := range []string{`{`, `{"a":}`, `nul`, `"\x"`, `[1,]`, strings.Repeat("[", 20_000)} {
		if _, err := expr.CompileTemplate(echo{}, json.RawMessage(bad)); !errors.Is(err, fault.InvalidJSON) {
			t.Errorf("CompileTemplate(%.20q) = %v, want invalid_json", bad, err)
		}
	}
}

func TestCompileExpressionTakesBothForms(t *testing.T) {
	for in, want := range map[string]string{"{% a.b %}": "a.b", " a.b ": "a.b", "$count(x)": "$count(x)"} {
		p, err := expr.CompileExpression(echo{}, in)
		if err != nil || p.Source() != want {
			t.Errorf("CompileExpression(%q) = %v, %v; want source %q", in, p, err, want)
		}
	}
	if _, err := expr.CompileExpression(echo{}, "a {% b %}"); !errors.Is(err, fault.PartialExpressionUnsupported) {
		t.Errorf("a partial slot: %v", err)
	}
}

func FuzzTemplate(f *testing.F) {
	f.Add(`{"a":"{% undefined %}","b":[1,"{% 2 %}",{"c":"{% \"x\" %}"}],"a":3}`)
	f.Add(`["{% undefined %}",[],{},"\u0041",1e400]`)
	f.Add(`"{% input %}"`)
	f.Fuzz(func(t *testing.T, text string) {
		tpl, err := expr.CompileTemplate(echo{}, json.RawMessage(text))
		if err != nil {
			return
		}
		v, undefined, err := tpl.Eval(context.Background(), nil, expr.Limits{})
		if err != nil || undefined {
			return
		}
		// The expressions of echo are their own value, whatever it is.
		if !json.Valid(v) && !strings.Contains(text, "%}") {
			t.Errorf("Eval(%q) = %q, which is not JSON", text, v)
		}
	})
}
