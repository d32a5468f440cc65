package gogen_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/outrider-run/outrider"
	"github.com/outrider-run/outrider/authoring/gogen"
	"github.com/outrider-run/outrider/authoring/gogen/testdata/groceries"
	"github.com/outrider-run/outrider/sites/manifest"
)

const fixture = "testdata/groceries/"

// The committed package is what the map gives. OUTRIDER_GENERATE=1 writes it again.
func TestGeneratedPackageIsCurrent(t *testing.T) {
	text, err := os.ReadFile(fixture + "actions.json")
	if err != nil {
		t.Fatal(err)
	}
	m, report := manifest.Parse(text, manifest.Options{})
	if !report.OK() {
		t.Fatal(report.Errors)
	}
	const directive = "go run github.com/outrider-run/outrider/cmd/outrider generate actions.json --out groceries.go"
	o := gogen.Options{Source: "actions.json", Directive: directive}
	got, problems := gogen.File(m, o)
	if problems != nil {
		t.Fatal(problems)
	}
	if os.Getenv("OUTRIDER_GENERATE") == "1" {
		if err := os.WriteFile(fixture+"groceries.go", got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(fixture + "groceries.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the generated package differs: OUTRIDER_GENERATE=1 writes it\n%s", got)
	}
	for range 20 {
		if again, _ := gogen.File(m, o); !bytes.Equal(again, got) {
			t.Fatal("the same map gives another file")
		}
	}
}

func TestGeneratedPackageRuns(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<!doctype html><title>Groceries</title><form><input name=item aria-label=Item></form><ul></ul>
<script>document.forms[0].onsubmit = e => {
	e.preventDefault();
	const li = document.createElement('li');
	li.append(document.createElement('span'));
	li.firstChild.textContent = e.target.item.value;
	document.querySelector('ul').append(li);
}</script>`)
	}))
	defer site.Close()
	s, err := outrider.Open(t.Context(), outrider.Options{
		Open: []string{site.URL}, Maps: []string{fixture + "actions.json"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	shop := groceries.On(s.Tab())
	out, err := shop.AddItem(t.Context(), groceries.AddItemIn{Item: "Milk", Amount: new(2)})
	if err != nil || len(out.Items) != 1 || out.Items[0] != "Milk" {
		t.Errorf("%+v, %v", out, err)
	}
	list, err := shop.List(t.Context())
	if err != nil || list.Count != 1 || list.Items[0].Text != "Milk" || list.Items[0].Note != nil {
		t.Errorf("%+v, %v", list, err)
	}
	where, err := shop.Where(t.Context())
	if err != nil || string(where) != `{"title":"Groceries"}` {
		t.Errorf("%s, %v", where, err)
	}
	_, err = shop.AddItem(t.Context(), groceries.AddItemIn{Item: "Milk", ListID: new("garden")})
	if e, ok := err.(*outrider.Error); !ok || e.Code != "invalid_input" {
		t.Errorf("a value that the map refuses: %v", err)
	}
}

// What no type of Go fits is named by its place.
func TestSchemasThatDoNotFit(t *testing.T) {
	for _, c := range []struct{ name, tools, want string }{
		{"a choice", tool("a.b", `{"type":"object","properties":{"x":{"oneOf":[{}]}}}`),
			"/tools/0/input_schema/properties/x/oneOf"},
		{"several types", tool("a.b", `{"type":"object","properties":{"x":{"type":["string","object"]}}}`),
			"/tools/0/input_schema/properties/x/type"},
		{"values of several types", tool("a.b", `{"type":"object","properties":{"x":{"enum":[1,"a"]}}}`),
			"/tools/0/input_schema/properties/x/type"},
		{"inside a list", tool("a.b", `{"type":"object","properties":{"x":{"items":{"anyOf":[{}]}}}}`),
			"/tools/0/input_schema/properties/x/items/anyOf"},
		{"no name", tool("a.b", `{"type":"object","properties":{"x":{"type":"object","properties":{"7/~":{}}}}}`),
			"/tools/0/input_schema/properties/x/properties/7~1~0"},
		{"one name twice", tool("a.b", `{"type":"object","properties":{"a-b":{},"a_b":{}}}`),
			"/tools/0/input_schema/properties/a_b"},
		{"one method twice", tool("a.b_c", `{"type":"object"}`) + "," + tool("a.b-c", `{"type":"object"}`), "/tools/1"},
		{"a method named as a type", tool("a.page", `{"type":"object"}`), "/tools/0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := `{"protocol":"actions.json","version":1,"tools":[` + c.tools + `]}`
			m, report := manifest.Parse([]byte(text), manifest.Options{})
			if !report.OK() {
				t.Fatal(report.Errors)
			}
			file, problems := gogen.File(m, gogen.Options{})
			if file != nil || len(problems) != 1 || problems[0].Pointer != c.want || problems[0].Message == "" {
				t.Errorf("got %+v, want one at %s", problems, c.want)
			}
		})
	}
}

func tool(name, schema string) string {
	return `{"name":"` + name + `","description":"Does.","input_schema":` + schema +
		`,"workflow":{"version":1,"expression_language":"jsonata","steps":[{"id":"i","primitive":"page.info"}]}}`
}

// What a map says stays in comments and strings.
func TestTextsOfTheMapAreNoCode(t *testing.T) {
	text := `{"protocol":"actions.json","version":1,"surface":{"name":"A\nfunc init() { panic(1) }"},"tools":[` +
		strings.Replace(tool("a.b", `{"type":"object","properties":{"x":{"description":"*/\n}\nfunc init() {}"}}}`),
			"Does.", `One\u2028two\nimport \"os\"`, 1) + `]}`
	m, report := manifest.Parse([]byte(text), manifest.Options{})
	if !report.OK() {
		t.Fatal(report.Errors)
	}
	file, problems := gogen.File(m, gogen.Options{Package: "a", Source: "x\nimport \"os\""})
	if problems != nil {
		t.Fatal(problems)
	}
	for line := range strings.Lines(string(file)) {
		if strings.HasPrefix(line, "func init") || strings.HasPrefix(line, `import "os"`) {
			t.Errorf("%s", line)
		}
	}
}
