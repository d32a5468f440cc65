package projection_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection"
)

const valid = `{"name":"site.board","snapshot":{"version":1,"source":"dom","extract":[{"id":"b","selector":"b"}],` +
	`"projection":{"language":"jsonata","expression":"records"}}}`

func TestCompileFindsAllProblems(t *testing.T) {
	for _, tt := range []struct {
		name, raw string
		want      string // code pointer, one each line
	}{
		{name: "valid", raw: valid},
		{name: "not JSON", raw: `{`, want: "invalid_state_projection "},
		{name: "no object", raw: `[]`, want: "invalid_state_projection "},
		{name: "empty", raw: `{}`, want: "invalid_state_projection /name\ninvalid_state_projection /snapshot"},
		{
			name: "everything wrong",
			raw: `{"name":" ","scope":{"url_matches":1},"snapshot":{"version":2,"source":"x",
			"extract":[1,{"id":"a","selector":5,"shadow":"yes","frame":[""],
			"fields":{"a/b":[],"c":{"property":1,"fields":[]}}}],
			"projection":{"language":"js","expression":"1 +"},"output_schema":{"type":"nothing"}},"summaries":[{"name":"s","expression":"$now()"},{"name":"s","max_bytes":-1,"expression":""},1],
			"markers":[{"id":"m"}],"x_identity":{"lists":"id","/l":1,"/m":"/~2"},"postconditions":{"act":{"verify":{"language":"js"}},"other":{"language":"jsonata","expression":"("},"skipped":1}}`,
			want: `invalid_state_projection /name
invalid_state_projection /scope/url_matches
invalid_state_projection /snapshot/version
invalid_state_projection /snapshot/source
invalid_state_projection /snapshot/extract/0
invalid_state_projection /snapshot/extract/1/selector
invalid_state_projection /snapshot/extract/1/shadow
invalid_state_projection /snapshot/extract/1/fields/a~1b
invalid_state_projection /snapshot/extract/1/fields/c/property
invalid_state_projection /snapshot/extract/1/fields/c/fields
invalid_state_projection /snapshot/extract/1/frame
invalid_state_projection /snapshot/projection/language
invalid_expression /snapshot/projection/expression
invalid_schema /snapshot/output_schema
disallowed_expression_function /summaries/0/expression
invalid_state_projection /summaries/1/name
invalid_state_projection /summaries/1/max_bytes
invalid_state_projection /summaries/1/expression
invalid_state_projection /summaries/2
invalid_state_markers /markers/0/type
invalid_state_projection /x_identity/lists
invalid_state_projection /x_identity/~1l
invalid_state_projection /x_identity/~1m
invalid_state_postcondition /postconditions/act
invalid_expression /postconditions/other`,
		},
		{name: "null is absent", raw: strings.TrimSuffix(valid, "}") +
			`,"scope":null,"summaries":null,"markers":null,"x_identity":null,"postconditions":null}`},
		{
			name: "markers of another type",
			raw:  strings.TrimSuffix(valid, "}") + `,"markers":{}}`,
			want: "invalid_state_markers /markers",
		},
		{
			name: "blank markers",
			raw:  strings.TrimSuffix(valid, "}") + `,"markers":" "}`,
			want: "invalid_state_projection /markers",
		},
		{name: "fields too deep", raw: strings.Replace(
			valid, `"selector":"b"`, strings.Repeat(`"fields":{"f":{`, 40)+strings.Repeat(`}}`, 40), 1,
		),
			want: "invalid_state_projection /snapshot/extract/0" + strings.Repeat("/fields/f", 32) + "/fields"},
		{
			name: "too many frames",
			raw:  strings.Replace(valid, `{"id":"b","selector":"b"}`, frames(20), 1),
			want: "invalid_state_projection /snapshot/extract/16/frame",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, problems := projection.Compile(json.RawMessage(tt.raw), engine(t))
			var got []string
			for _, pr := range problems {
				got = append(got, string(pr.Code)+" "+pr.Pointer)
				if pr.Message == "" {
					t.Errorf("%v has no message", pr)
				}
			}
			if strings.Join(got, "\n") != tt.want {
				t.Errorf("Compile(%s)\n got %s\nwant %s", tt.raw, strings.Join(got, "\n"), tt.want)
			}
			if (p == nil) != (len(problems) > 0) {
				t.Errorf("a projection beside %d problems: %v", len(problems), p)
			}
		})
	}
}

func frames(n int) string {
	var b []string
	for i := range n {
		b = append(b, fmt.Sprintf(`{"id":"e%d","selector":"b","frame":"#f%d"}`, i, i))
	}
	return strings.Join(b, ",")
}

func TestApplies(t *testing.T) {
	for _, tt := range []struct {
		pattern, url string
		want         bool
	}{
		{"", "https://a/b", true},
		{"  ", "https://a/b", true},
		{"*", "", true},
		{"https://a/b", "https://a/b", true},
		{"https://a/b", "https://a/b/", false},
		{"https://A/*", "HTTPS://a/b/c?d#e", true},
		{"*://a/*", "https://a/", true},
		{"https://a/*/c", "https://a/b/c", true},
		{"https://a/*/c", "https://a/c", false},
		{"https://a/*/c*", "https://a/b/d/c?x", true},
		{"a*a", "a", false},
		{"a*b*c", "a-c-b", false},
		{"a.c", "abc", false},
		{"a?c", "a?c", true},
		{"a?c", "abc", false},
		{"[a]+", "[a]+", true},
		{"**x**", "yxy", true},
	} {
		raw := strings.TrimSuffix(valid, "}") + `,"scope":{"url_matches":` + fmt.Sprintf("%q", tt.pattern) + `}}`
		p, problems := projection.Compile(json.RawMessage(raw), engine(t))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if got := p.Applies(tt.url); got != tt.want {
			t.Errorf("%q applies to %q: %v, want %v", tt.pattern, tt.url, got, tt.want)
		}
	}
}

func TestAccessors(t *testing.T) {
	p, problems := projection.Compile(json.RawMessage(strings.TrimSuffix(valid, "}")+
		`,"summaries":[{"name":"a","expression":"1"},{"name":"b","expression":"2"}],"markers":[]}`), engine(t))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if p.Name() != "site.board" || strings.Join(p.SummaryNames(), ",") != "a,b" || !p.HasMarkers() {
		t.Errorf("name %q, summaries %v, markers %v", p.Name(), p.SummaryNames(), p.HasMarkers())
	}
}

func TestPostcondition(t *testing.T) {
	for _, tt := range []struct {
		name, raw, state, input string
		compile                 fault.Code
		check                   fault.Code
		ok                      bool
		projection, message     string
	}{
		{
			name: "holds",
			raw: `{"projection":"p","verify":{"language":"jsonata","expression":"{% state.n = input.n %}"},` +
				`"failure_message":"m"}`,
			state:      `{"n":1}`,
			input:      `{"n":1}`,
			ok:         true,
			projection: "p",
			message:    "m",
		},
		{
			name:  "does not hold",
			raw:   `{"verify":{"language":"jsonata","expression":"state.n = input.n"}}`,
			state: `{"n":1}`,
			input: `{"n":2}`,
		},
		{name: "without verify", raw: `{"language":"jsonata","expression":"state.n"}`, state: `{"n":"x"}`, ok: true},
		{
			name:  "truth of JavaScript",
			raw:   `{"language":"jsonata","expression":"state.l"}`,
			state: `{"l":[]}`,
			ok:    true,
		},
		{name: "undefined is false", raw: `{"language":"jsonata","expression":"state.nothing"}`, state: `{}`},
		{name: "null state", raw: `{"language":"jsonata","expression":"state"}`, state: `null`},
		{
			name:  "no input",
			raw:   `{"language":"jsonata","expression":"$count($keys(input)) = 0"}`,
			state: `{}`,
			ok:    true,
		},
		{
			name:  "expression fails",
			raw:   `{"language":"jsonata","expression":"1 + state.s"}`,
			state: `{"s":"x"}`,
			check: fault.ExpressionEvaluationFailed,
		},
		{name: "no JSON", raw: `{`, compile: fault.InvalidStatePostcondition},
		{name: "no object", raw: `[]`, compile: fault.InvalidStatePostcondition},
		{name: "no expression", raw: `{"verify":{"language":"jsonata"}}`, compile: fault.InvalidStatePostcondition},
		{
			name:    "other language",
			raw:     `{"verify":{"language":"js","expression":"1"}}`,
			compile: fault.InvalidStatePostcondition,
		},
		{
			name:    "does not parse",
			raw:     `{"verify":{"language":"jsonata","expression":"1 +"}}`,
			compile: fault.InvalidExpression,
		},
		{
			name:    "forbidden",
			raw:     `{"verify":{"language":"jsonata","expression":"$random() > 1"}}`,
			compile: fault.DisallowedExpressionFunction,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pc, err := projection.CompilePostcondition(json.RawMessage(tt.raw), engine(t))
			if tt.compile != "" {
				if err == nil || err.Code != tt.compile {
					t.Errorf("CompilePostcondition(%s): %v, want %s", tt.raw, err, tt.compile)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			ok, err := pc.Check(t.Context(), json.RawMessage(tt.state), json.RawMessage(tt.input))
			var code fault.Code
			if err != nil {
				code = err.Code
			}
			if ok != tt.ok || code != tt.check {
				t.Errorf(
					"Check(%s, %s) of %s = %v, %v; want %v, %q", tt.state, tt.input, tt.raw, ok, err, tt.ok, tt.check,
				)
			}
			if pc.Projection() != tt.projection || pc.FailureMessage() == "" ||
				tt.message != "" && pc.FailureMessage() != tt.message {
				t.Errorf("projection %q, message %q", pc.Projection(), pc.FailureMessage())
			}
		})
	}
}
