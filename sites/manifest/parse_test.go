package manifest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites/manifest"
)

func parse(t *testing.T, text string, opts manifest.Options) (*manifest.Manifest, manifest.Report) {
	t.Helper()
	return manifest.Parse([]byte(text), opts)
}

func TestWarningsNameTheNearestField(t *testing.T) {
	tests := []struct{ name, doc, pointer, message string }{
		{
			"swapped letters", `"tools":[],"sginals":[]`, "/sginals",
			`"sginals" is not a field of the format; did you mean signals?`,
		},
		{
			"wrong case", `"tools":[],"Surface":{}`, "/Surface",
			`"Surface" is not a field of the format; did you mean surface?`,
		},
		{"nothing near", `"tools":[],"qqqq":1`, "/qqqq", `"qqqq" is not a field of the format`},
		{
			"inside a tool", `"tools":[{"name":"a","description":"d","input_schema":{},"workflow":{},"requries":[]}]`,
			"/tools/0/requries", `"requries" is not a field of the format; did you mean requires?`,
		},
		{"escaped in the pointer", `"tools":[],"a/b":1`, "/a~1b", `"a/b" is not a field of the format`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, report := parse(t, `{"protocol":"actions.json","version":1,`+tt.doc+`}`, manifest.Options{})
			if !report.OK() || len(report.Warnings) != 1 {
				t.Fatalf("errors %v, warnings %v; want one warning", report.Errors, report.Warnings)
			}
			w := report.Warnings[0]
			if w.Pointer != tt.pointer || w.Code != fault.UnknownField || w.Message != tt.message {
				t.Errorf("warning %v, want %s %s", w, tt.pointer, tt.message)
			}
		})
	}
}

func TestProblemsCarryTheirLine(t *testing.T) {
	_, report := parse(
		t, "{\n \"protocol\": \"actions.json\",\n \"version\": 2,\n\n \"tools\": [\n  {\"name\": 5}\n ]\n}",
		manifest.Options{},
	)
	var got []string
	for _, p := range report.Errors {
		got = append(got, fmt.Sprintf("%d %s", p.Line, p.Pointer))
	}
	want := []string{"3 /version", "6 /tools/0", "6 /tools/0/description", "6 /tools/0/input_schema", "6 /tools/0/name"}
	if !slices.Equal(got, want) {
		t.Errorf("lines and pointers %q, want %q", got, want)
	}
}

func TestSyntaxErrorsSayWhere(t *testing.T) {
	_, report := parse(t, "{\n  \"protocol\": actions\n}", manifest.Options{})
	if len(report.Errors) != 1 || !strings.Contains(report.Errors[0].Message, "line 2, column 15") {
		t.Errorf("errors %v, want one with line 2, column 15", report.Errors)
	}
}

func TestReportIsBounded(t *testing.T) {
	text := `{"protocol":"actions.json","version":1,"tools":[` + strings.Repeat("0,", 1999) + `0]}`
	_, report := parse(t, text, manifest.Options{})
	if len(report.Errors) != manifest.MaxProblems || report.Dropped != 1500 {
		t.Errorf("%d errors and %d dropped, want %d and 1500", len(report.Errors), report.Dropped, manifest.MaxProblems)
	}
	if report.Errors[0].Pointer != "/tools/0" || report.Errors[499].Pointer != "/tools/499" {
		t.Errorf("kept %s to %s, want the first ones", report.Errors[0].Pointer, report.Errors[499].Pointer)
	}
}

func TestLimits(t *testing.T) {
	head := `{"protocol":"actions.json","version":1,"tools":[],"x_a":`
	tests := []struct {
		name, text string
		ok         bool
	}{
		{"just small enough", head + `"` + strings.Repeat("a", manifest.MaxBytes-len(head)-3) + `"}`, true},
		{"one byte too large", head + `"` + strings.Repeat("a", manifest.MaxBytes-len(head)-2) + `"}`, false},
		{"too many values", head + `[` + strings.Repeat("0,", manifest.MaxValues) + `0]}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, report := parse(t, tt.text, manifest.Options{})
			if report.OK() != tt.ok || !tt.ok && report.Errors[0].Code != fault.LimitExceeded {
				t.Errorf("errors %v, want ok %v", report.Errors, tt.ok)
			}
		})
	}
}

func TestCallersCheckWorkflowsAndProjections(t *testing.T) {
	doc := `{"protocol":"actions.json","version":1,
"tools":[{"name":"a.run","description":"d","input_schema":{},"workflow":{"steps":[{"id":"x"},
 {"id":"y"}]}}],
"state_projections":[{"name":"p","snapshot":{"version":1,"source":"dom","extract":[],"projection":{"language":"jsonata","expression":"("}}}]}`
	var workflow, projection json.RawMessage
	_, report := parse(t, doc, manifest.Options{
		CheckWorkflow: func(raw json.RawMessage) (problems, warnings []manifest.Problem) {
			workflow = raw
			return []manifest.Problem{
					{Pointer: "/steps/1/primitive", Code: fault.InvalidWorkflow, Message: "primitive is required"},
					{Code: fault.InvalidWorkflow, Message: "whole"},
				},
				[]manifest.Problem{{Pointer: "/steps/0", Code: fault.InvalidExpression, Message: "odd"}}
		},
		CheckProjection: func(raw json.RawMessage) []manifest.Problem {
			projection = raw
			return []manifest.Problem{{
				Pointer: "/snapshot/projection/expression",
				Code:    fault.InvalidExpression,
				Message: "does not compile",
			}}
		},
	})
	var got []string
	for _, p := range report.Errors {
		got = append(got, fmt.Sprintf("%d %s %s", p.Line, p.Pointer, p.Code))
	}
	want := []string{
		"2 /tools/0/workflow invalid_workflow",
		"3 /tools/0/workflow/steps/1/primitive invalid_workflow",
		"4 /state_projections/0/snapshot/projection/expression invalid_expression",
	}
	if !slices.Equal(got, want) {
		t.Errorf("problems\n got %q\nwant %q", got, want)
	}
	if w := report.Warnings; len(w) != 1 || w[0].Pointer != "/tools/0/workflow/steps/0" || w[0].Line != 2 {
		t.Errorf("warnings %v", w)
	}
	if !strings.HasPrefix(string(workflow), `{"steps"`) || !strings.HasPrefix(string(projection), `{"name":"p"`) {
		t.Errorf("the checkers got %s and %s", workflow, projection)
	}
}

// What is found of many workflows at once is reported as if they were checked
// one after the other.
func TestManyWorkflowsAreCheckedInOrder(t *testing.T) {
	var tools []string
	for i := range 200 {
		tools = append(
			tools, fmt.Sprintf(`{"name":"t%d","description":"d","input_schema":{},"workflow":{"n":%d}}`, i, i),
		)
	}
	doc := `{"protocol":"actions.json","version":1,"tools":[` + strings.Join(tools, ",") + `]}`
	_, report := parse(t, doc, manifest.Options{
		CheckWorkflow: func(raw json.RawMessage) (problems, warnings []manifest.Problem) {
			return []manifest.Problem{{Pointer: "/n", Code: fault.InvalidWorkflow, Message: string(raw)}}, nil
		},
	})
	if len(report.Errors) != 200 {
		t.Fatalf("%d errors", len(report.Errors))
	}
	for i, p := range report.Errors {
		if p.Pointer != fmt.Sprintf("/tools/%d/workflow/n", i) || p.Message != fmt.Sprintf(`{"n":%d}`, i) {
			t.Errorf("error %d is %v", i, p)
		}
	}
}

func TestMembersAreMatchedByExactName(t *testing.T) {
	// encoding/json would let the second spelling win unseen.
	m, report := parse(t, `{"protocol":"actions.json","version":1,"tools":[{"name":"safe","NAME":"../unsafe",`+
		`"description":"d","input_schema":{},"x_actions":{"handler":"page.info","HANDLER":"evil()"}}]}`,
		manifest.Options{})
	if !report.OK() {
		t.Fatal(report.Errors)
	}
	if tool := m.Tool("safe"); tool == nil || tool.XActions.Handler != "page.info" {
		t.Errorf("tools %+v", m.Tools)
	}
}

func TestManifestKeepsWhatTheMapSays(t *testing.T) {
	m, report := manifest.Parse(
		readFile(t, testMaps, "good", "tool-x-actions-every-field", "actions.json"), manifest.Options{},
	)
	if !report.OK() {
		t.Fatal(report.Errors)
	}
	tool := m.Tool("deck.state")
	x := tool.XActions
	if x.Direction != manifest.AgentToHTML || x.Handler != "deck.state" || x.Scope != "active_surface" {
		t.Errorf("x_actions %+v", x)
	}
	from := x.Source
	if from.Component != "SlideDeck" || len(from.Files) != 3 || string(from.Extensions["x_line"]) != "3" {
		t.Errorf("x_actions %+v", x)
	}
	if x.Execution.Mode != "documentary" || len(x.Execution.Steps) != 1 {
		t.Errorf("x_actions %+v", x)
	}
	if string(x.StaticOutput) != "1" || x.Portable == nil || !*x.Portable {
		t.Errorf("x_actions %+v", x)
	}
	if got := tool.Result.Validate(json.RawMessage(`{"ok":1}`)); len(got) != 1 || got[0].Path != "/ok" {
		t.Errorf("result schema reports %v for a wrong result", got)
	}
	if !slices.Equal(tool.Requires, []string{"input", "page.read"}) {
		t.Errorf("requires %q", tool.Requires)
	}
}

func TestStaticOutputNullIsDeclared(t *testing.T) {
	m, report := manifest.Parse(readFile(t, testMaps, "good", "tool-static-output", "actions.json"), manifest.Options{})
	if !report.OK() {
		t.Fatal(report.Errors)
	}
	if got := m.Tool("site.nothing").XActions.StaticOutput; string(got) != "null" {
		t.Errorf("static output %q, want null", got)
	}
}

func TestParseKeepsNoReferenceToItsInput(t *testing.T) {
	data := readFile(t, testMaps, "good", "everything", "actions.json")
	m, _ := manifest.Parse(data, manifest.Options{})
	before := string(m.Tools[0].InputSchema)
	for i := range data {
		data[i] = 'x'
	}
	if after := string(m.Tools[0].InputSchema); after != before {
		t.Errorf("the input schema became %q", after)
	}
}

func TestTargetCandidatesAreInOrderAndUnique(t *testing.T) {
	m, _ := manifest.Parse(readFile(t, testMaps, "good", "target-every-field", "actions.json"), manifest.Options{})
	want := []string{"button[type='submit']", "[role='button']", "button"}
	if got := m.Tools[0].Target.Candidates(); !slices.Equal(got, want) {
		t.Errorf("candidates %q, want %q", got, want)
	}
}

func TestReportBecomesOneFault(t *testing.T) {
	_, report := parse(t, `{"protocol":"x","version":1}`, manifest.Options{})
	err := report.Err()
	if !errors.Is(err, fault.InvalidManifest) || err.Evidence["error_count"] != 2 {
		t.Errorf("fault %v with evidence %v", err, err.Evidence)
	}
	_, fine := parse(t, `{"protocol":"actions.json","version":1,"tools":[]}`, manifest.Options{})
	if fine.Err() != nil {
		t.Errorf("a good map gives %v", fine.Err())
	}
}

func TestSafeIdentifierIsThePattern(t *testing.T) {
	pattern := regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]*(\.[a-zA-Z][a-zA-Z0-9_-]*)*$`)
	alphabet := []string{"a", "Z", "0", "9", "_", "-", ".", " ", "\n", "é", "@", "[", "`", "{", "\x00"}
	var try func(s string, n int)
	tried := 0
	try = func(s string, n int) {
		tried++
		if got, want := manifest.SafeIdentifier(s), pattern.MatchString(s); got != want {
			t.Errorf("SafeIdentifier(%q) = %v, the pattern says %v", s, got, want)
		}
		if n == 0 {
			return
		}
		for _, c := range alphabet {
			try(s+c, n-1)
		}
	}
	try("", 4)
	if tried < 50_000 {
		t.Errorf("tried only %d strings", tried)
	}
}

// A map of 500 tools and 2 MB: the target is 150 ms.
func BenchmarkParseLarge(b *testing.B) {
	data := LargeMap(500, 2<<20)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if m, report := manifest.Parse(data, manifest.Options{}); m == nil {
			b.Fatal(report.Errors)
		}
	}
}

// LargeMap returns a map of n tools, each with schemas of its own, filled with
// descriptions to about size bytes.
func LargeMap(n, size int) []byte {
	var out strings.Builder
	out.WriteString(`{"protocol":"actions.json","version":1,"tools":[`)
	filler := strings.Repeat("Opens the card and waits for its dialog. ", 1+max(0, size/n-2400)/42)
	for i := range n {
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(&out, `{"name":"site.tool_%d","description":%q,"input_schema":{"type":"object","required":["f0"],`+
			`"additionalProperties":false,"properties":{`, i, filler)
		for f := range 12 {
			if f > 0 {
				out.WriteByte(',')
			}
			fmt.Fprintf(
				&out, `"f%d":{"type":"string","minLength":%d,"description":"Field %d of tool %d."}`, f, f%3, f, i,
			)
		}
		fmt.Fprintf(&out, `}},"workflow":{"version":1,"expression_language":"jsonata","steps":[`)
		for s := range 8 {
			if s > 0 {
				out.WriteByte(',')
			}
			fmt.Fprintf(&out, `{"id":"s%d","primitive":"locator.element_info",`+
				`"args":{"locator":{"selector":"[data-card='%d']","text_contains":"{%% input.f0 %%}"}},`+
				`"on_error":"stop"}`, s, i)
		}
		fmt.Fprintf(&out, `]},"x_actions":{"result_schema":{"type":"object","required":["ok"],`+
			`"properties":{"ok":{"type":"boolean"},"n%d":{"type":"integer"}}}}}`, i)
	}
	out.WriteString(`]}`)
	return []byte(out.String())
}

// Words of a lifecycle that are not known are taken for the default, and said.
func TestLifecycleWords(t *testing.T) {
	_, odd := manifest.Parse(
		readFile(t, testMaps, "good", "attachment-unknown-words-are-warnings", "actions.json"), manifest.Options{},
	)
	var got []string
	for _, w := range odd.Warnings {
		got = append(got, w.Pointer)
	}
	at := "/attachments/0/"
	if want := []string{
		at + "affordance/placement", at + "lifecycle/drift", at + "lifecycle/install",
		at + "lifecycle/reattach", at + "lifecycle/remove",
	}; !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		t.Errorf("warnings at %q, want %q", got, want)
	}
	m, known := manifest.Parse(
		readFile(t, testMaps, "good", "attachment-every-lifecycle", "actions.json"), manifest.Options{},
	)
	if m == nil || len(known.Warnings) > 0 {
		t.Fatalf("warnings of known words: %v", known.Warnings)
	}
	for _, tt := range []struct {
		id   string
		want string
	}{
		{"i0", "installs context always"},
		{"i1", "installs context always"},
		{"i2", "not context always"},
		{"i3", "not context always"},
		{"r1", "installs target always"},
		{"r2", "installs never always"},
		{"r3", "installs never always"},
		{"b1", "installs context always"},
		{"b2", "installs context url"},
		{"b3", "installs context dom"},
		{"b4", "installs context never"},
		{"b5", "installs context never"},
		{"b6", "installs context never"},
		{"d0", "installs context always"},
		{"d3", "installs context always"},
		{"d4", "installs context always hides"},
		{"d5", "installs context always hides"},
		{"d6", "installs context always hides"},
	} {
		l := m.Attachment(tt.id).Lifecycle
		got := "not"
		if l.Installs() {
			got = "installs"
		}
		got += " " + string(l.Removal()) + " " + string(l.Return())
		if l.HidesDrifted() {
			got += " hides"
		}
		if got != tt.want {
			t.Errorf("%s %+v: got %s, want %s", tt.id, l, got, tt.want)
		}
	}
}
