package fault_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
)

func TestEveryDeclaredConstantHasOneSpec(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := map[fault.Code]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := v.Type.(*ast.Ident); !ok || id.Name != "Code" {
			return true
		}
		s, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		declared[fault.Code(s)] = true
		return true
	})
	seen := map[fault.Code]bool{}
	name := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	for _, s := range fault.All() {
		if seen[s.Code] {
			t.Errorf("%s has two specs", s.Code)
		}
		seen[s.Code] = true
		if !declared[s.Code] {
			t.Errorf("%s has a spec but no constant", s.Code)
		}
		if !name.MatchString(string(s.Code)) {
			t.Errorf("%q is not a code name", s.Code)
		}
		if s.Meaning == "" || strings.HasSuffix(s.Meaning, ".") || s.Severity == "" || s.Retry == "" {
			t.Errorf("%s: incomplete or badly written spec %+v", s.Code, s)
		}
	}
	for c := range declared {
		if !seen[c] {
			t.Errorf("%s has a constant but no spec", c)
		}
	}
}

func TestWrapKeepsTheInnerCode(t *testing.T) {
	inner := fault.New(fault.TargetNotFound, "nothing matches").With("selector", "#a")
	outer := fault.Wrap(fault.HandlerFailed, fmt.Errorf("reading: %w", inner), "step one")
	if !errors.Is(outer, fault.TargetNotFound) || fault.CodeOf(outer) != fault.TargetNotFound {
		t.Errorf("got %s, want target_not_found", outer.Code)
	}
	if outer.Evidence["selector"] != "#a" {
		t.Errorf("evidence lost: %v", outer.Evidence)
	}
}

func TestCodeOf(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want fault.Code
	}{
		{"nil", nil, ""},
		{"deadline", fmt.Errorf("x: %w", context.DeadlineExceeded), fault.Timeout},
		{"cancel", context.Canceled, fault.Cancelled},
		{"bare code", fault.InvalidKey, fault.InvalidKey},
		{"foreign", errors.New("secret"), fault.Internal},
	} {
		if got := fault.CodeOf(c.err); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	if m := fault.From(errors.New("secret")).Message; strings.Contains(m, "secret") {
		t.Errorf("foreign text in the message: %q", m)
	}
}

func TestEncodingIsBoundedAndComplete(t *testing.T) {
	e := fault.New(fault.TargetNotFound, "no match").
		With("text", strings.Repeat("é", 4000)).With("fn", func() {}).
		Field("step_id", "find").Field("code", "forged").Next("take a new snapshot")
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > 3*fault.MaxEvidence {
		t.Errorf("encoded error has %d bytes", len(b))
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	if m["code"] != "target_not_found" || m["step_id"] != "find" || m["severity"] != "major" ||
		m["recoverable"] != true || m["next_step"] == nil {
		t.Errorf("got %v", m)
	}
	if s := m["evidence"].(map[string]any)["text"].(string); !strings.HasSuffix(s, "...") {
		t.Errorf("long evidence not marked as cut")
	}
}

func TestErrorsPageIsCurrent(t *testing.T) {
	const path = "../../docs/reference/errors.md"
	if os.Getenv("OUTRIDER_GENERATE") == "1" {
		if err := os.WriteFile(path, []byte(fault.Markdown()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != fault.Markdown() {
		t.Error("docs/reference/errors.md is stale: run make generate")
	}
}
