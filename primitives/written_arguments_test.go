package primitives_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/catalog"
)

func isOpen(text string) bool { return strings.HasPrefix(text, "{%") }

func TestCheckArguments(t *testing.T) {
	r := catalog.Standard()
	for _, c := range []struct {
		name, primitive, args string
		want                  []string // "path code", with a ? when not certain
		says                  string   // in the first message
	}{
		{"fine", "page.select", `{"locator":{"label":"A"},"label":["x"]}`, nil, ""},
		{"nothing written", "page.info", ``, nil, ""},
		{"null", "page.info", `null`, nil, ""},
		{"unknown primitive", "page.destroy", `{"x":1}`, nil, ""},
		{
			"undeclared", "page.select", `{"ref":"e1","labels":["x"]}`,
			[]string{"/labels unknown_field"}, `page.select takes no "labels"; did you mean "label"?`,
		},
		{
			"undeclared and nothing close", "page.select", `{"ref":"e1","zzz":1}`,
			[]string{"/zzz unknown_field"}, `page.select takes no "zzz"`,
		},
		{
			"undeclared, value open", "page.select", `{"ref":"e1","labels":"{% l %}"}`,
			[]string{"/labels unknown_field?"},
			`page.select takes no "labels" and refuses it whenever the expression gives a value; did you mean "label"?`,
		},
		{
			"undeclared, open inside of its value", "page.select", `{"ref":"e1","labels":["{% l %}"]}`,
			[]string{"/labels unknown_field"}, `"label"`,
		},
		{
			"undeclared beside open values", "page.select", `{"ref":"{% r %}","labels":["x"],"mode":"{% m %}"}`,
			[]string{"/labels unknown_field"}, `"label"`,
		},
		{
			"open values of any kind", "page.select",
			`{"ref":"{% r %}","label":"{% l %}","timeout_ms":"{% t %}","mode":"{% m %}"}`, nil, "",
		},
		{
			"in a locator", "locator.value", `{"locator":{"rolle":"button","name":"{% n %}"}}`,
			[]string{"/locator/rolle unknown_field"}, `locator.value takes no "rolle" in locator; did you mean "role"?`,
		},
		{
			"in a locator within a locator", "locator.value", `{"locator":{"role":"button","within":{"test_ids":"x"}}}`,
			[]string{"/locator/within/test_ids unknown_field"}, `did you mean "test_id"?`,
		},
		{
			"a locator within a locator, in another case", "locator.value",
			`{"locator":{"role":"button","within":{"Role":"dialog"}}}`, nil, "",
		},
		{"camelCase", "locator.wait_for", `{"locator":{"textContains":"a"},"timeoutMs":5}`, nil, ""},
		{
			"below a camelCase name", "locator.wait_for", `{"locator":{"hasText":{"contain":"a"}},"timeoutMs":-5}`,
			[]string{"/locator/hasText/contain unknown_field", "/timeoutMs invalid_value"},
			`takes no "contain" in locator/hasText`,
		},
		{
			"camelCase beside the name", "locator.wait_for", `{"locator":{},"timeout_ms":1,"timeoutMs":5}`,
			[]string{"/timeoutMs unknown_field"}, `did you mean "timeout_ms"?`,
		},
		{
			"camelCase beside the name, open", "locator.wait_for",
			`{"locator":{},"timeout_ms":"{% x %}","timeoutMs":5}`, []string{"/timeoutMs unknown_field?"}, "",
		},
		{
			"routing members", "page.info",
			`{"target_url_contains":"x","policy_exception_report":{"kind":"generic"}}`, nil, "",
		},
		{"missing", "locator.value", `{}`, []string{"/locator missing_field"}, `locator.value needs "locator"`},
		{"missing, nothing written", "locator.value", ``, []string{"/locator missing_field"}, ""},
		{"open, not missing", "locator.value", `{"locator":"{% l %}"}`, nil, ""},
		{
			"wrong type", "page.select", `{"ref":"e1","label":7}`,
			[]string{"/label wrong_type"}, "label of page.select must be string or array",
		},
		{
			"wrong item", "page.select", `{"ref":"e1","label":["x",1,"{% l %}"]}`,
			[]string{"/label/1 wrong_type"}, "1 in label of page.select must be string",
		},
		{
			"no choice", "locator.wait_for", `{"locator":{},"state":"gone"}`,
			[]string{"/state invalid_value"}, "state of locator.wait_for must be one of attached",
		},
		{
			"out of range", "locator.wait_for", `{"locator":{},"timeout_ms":-1}`,
			[]string{"/timeout_ms invalid_value"}, "timeout_ms of locator.wait_for must be at least 0",
		},
		{"whole number with a point", "locator.wait_for", `{"locator":{},"timeout_ms":5.0}`, nil, ""},
		{
			"alternatives, none of them", "page.wait", `{"conditions":[{"timeout_ms":5}]}`,
			[]string{"/conditions/0/timeout_ms unknown_field"}, "",
		},
		{"alternatives, empty", "page.wait", `{"conditions":[{}]}`, []string{"/conditions/0 invalid_value"}, ""},
		{
			"alternatives, two of them", "page.wait", `{"conditions":[{"text":"a","url":"b"}]}`,
			[]string{"/conditions/0 invalid_value"}, "",
		},
		{"alternatives, two of them open", "page.wait", `{"conditions":[{"text":"{% a %}","url":"{% b %}"}]}`, nil, ""},
		{
			"alternatives, an undeclared name that may vanish", "page.wait",
			`{"conditions":[{"text":"{% a %}","urll":"{% b %}"}]}`,
			[]string{"/conditions/0/urll unknown_field?"}, `did you mean "url"?`,
		},
		{
			"alternatives of types", "keyboard.press_gated",
			`{"key":"a","stop":"path","expect":5}`, []string{"/expect invalid_value"}, "",
		},
		{"not an object", "page.info", `[1]`, []string{" wrong_type"}, "arguments of page.info must be object"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			problems := r.CheckArguments(c.primitive, json.RawMessage(c.args), isOpen)
			for _, p := range problems {
				g := p.Path + " " + string(p.Code)
				if !p.Certain {
					g += "?"
				}
				got = append(got, g)
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Fatalf("CheckArguments(%s, %s): got %v, want %q", c.primitive, c.args, problems, c.want)
			}
			if len(problems) > 0 && !strings.Contains(problems[0].Message, c.says) {
				t.Errorf(
					"CheckArguments(%s, %s): got %q, want it to say %q",
					c.primitive, c.args, problems[0].Message, c.says,
				)
			}
		})
	}
}

// Whatever open values come to, also nothing, what is certain to be refused is
// refused; and of arguments without open values, what is refused is told.
func TestCheckArgumentsAgreesWithTheCall(t *testing.T) {
	r := catalog.Standard()
	const slot = `"{% x %}"`
	values := []string{
		slot, `"x"`, `"e1"`, `""`, `1`, `2.0`, `-1.5`, `true`, `null`, `[]`, `["x"]`,
		`["x",` + slot + `]`, `{}`, `{"selector":"a"}`, `{"selector":` + slot + `}`,
		`{"rolle":"x","selector":` + slot + `}`, `{"role":"x","within":{"roles":1}}`, `{"textContains":"a"}`,
		`[{"text":"a"}]`, `[{"text":` + slot + `,"url":"b"}]`, `[{"name":"a","attr":"b"}]`,
	}
	random := rand.New(rand.NewPCG(1, 2))
	certain, refused := 0, 0
	for _, record := range r.Records() {
		var schema struct {
			Properties map[string]any
		}
		if err := json.Unmarshal(record.InputSchema, &schema); err != nil {
			t.Fatal(err)
		}
		names := []string{"undeclared", "timeoutMs", "target_url_contains"}
		for name := range schema.Properties {
			names = append(names, name)
		}
		slices.Sort(names)
		for range 150 {
			var members []string
			for _, i := range random.Perm(len(names))[:random.IntN(min(4, len(names))+1)] {
				members = append(members, fmt.Sprintf("%q:%s", names[i], values[random.IntN(len(values))]))
			}
			args := "{" + strings.Join(members, ",") + "}"
			problems := r.CheckArguments(record.Name, json.RawMessage(args), isOpen)
			sure := slices.IndexFunc(problems, func(p primitives.ArgumentProblem) bool { return p.Certain })
			for _, value := range append(values[1:], "absent") {
				made := args
				if strings.Contains(args, slot) {
					made = substituted(t, args, value)
				}
				wrong := primitives.RefusedArguments(r, record.Name, json.RawMessage(made))
				if sure >= 0 && !wrong {
					t.Fatalf(
						"%s %s: taken, but %s was certain to be refused: %v", record.Name, made, args, problems[sure],
					)
				}
				if sure < 0 && made == args && primitives.BreaksSchema(r, record.Name, json.RawMessage(args)) {
					t.Fatalf("%s %s: refused, and nothing was told before: %v", record.Name, args, problems)
				}
				if wrong {
					refused++
				}
				if sure >= 0 {
					certain++
				}
				if made == args {
					break
				}
			}
		}
	}
	if certain < 1000 || refused == certain {
		t.Errorf("of %d refusals %d were certain: the samples prove nothing", refused, certain)
	}
}

// substituted returns args with value for every open one; absent takes it out.
func substituted(t *testing.T, args, value string) string {
	t.Helper()
	var v, with any
	if err := json.Unmarshal([]byte(args), &v); err != nil {
		t.Fatal(err)
	}
	if value != "absent" {
		if err := json.Unmarshal([]byte(value), &with); err != nil {
			t.Fatal(err)
		}
	}
	var put func(v any) (any, bool)
	put = func(v any) (any, bool) {
		switch v := v.(type) {
		case string:
			if isOpen(v) {
				return with, value != "absent"
			}
		case map[string]any:
			for name, e := range v {
				if next, keep := put(e); keep {
					v[name] = next
				} else {
					delete(v, name)
				}
			}
		case []any:
			out := []any{} // a list that is empty stays a list
			for _, e := range v {
				if next, keep := put(e); keep {
					out = append(out, next)
				}
			}
			return out, true
		}
		return v, true
	}
	v, _ = put(v)
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
