package runtime_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/checkcache"
)

// countingEngine counts what it compiles.
type countingEngine struct {
	expr.Engine
	compiled atomic.Int64
}

func (e *countingEngine) Compile(src string) (expr.Program, error) {
	e.compiled.Add(1)
	return e.Engine.Compile(src)
}

// A workflow that an earlier process found nothing wrong with is not compiled again when its map is read. One that has
// changed is, and one that is wrong is refused at every start.
func TestCheckedWorkflowsAreNotCheckedAgain(t *testing.T) {
	dir := t.TempDir()
	memory, file := filepath.Join(dir, "cache", "checked"), filepath.Join(dir, "actions.json")
	engine := &countingEngine{Engine: runtimetest.Engine(t)}
	load := func(text string, how runtime.MapOptions) (compiled int64, ok bool) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		before := engine.compiled.Load()
		how.Checked = checkcache.Open(memory, "")
		_, reports := runtime.LoadMaps([]string{file}, catalog.Standard(), engine, how)
		return engine.compiled.Load() - before, reports[0].OK
	}
	good := mapOf([]string{tool("a.one", click("a", "#a"), ""), tool("a.two", click("b", "#b"), "")}, nil)
	wrong := strings.Replace(good, "{'done': true}", "{'done': ", 1)
	changed := strings.Replace(good, `\"#b\"`, `\"#c\"`, 1)
	if changed == good {
		changed = strings.Replace(good, `"#b"`, `"#c"`, 1)
	}
	for _, c := range []struct {
		name, text string
		how        runtime.MapOptions
		ok         bool
		compiles   func(n int64) bool
	}{
		{"the first time", good, runtime.MapOptions{}, true, func(n int64) bool { return n > 4 }},
		{"the second time", good, runtime.MapOptions{}, true, func(n int64) bool { return n == 0 }},
		{"one of two has changed", changed, runtime.MapOptions{}, true, func(n int64) bool { return n > 0 && n < 5 }},
		{"read otherwise", good, runtime.MapOptions{AcceptDrafts: true}, true, func(n int64) bool { return n > 4 }},
		{
			"somebody checks the map", good, runtime.MapOptions{Arguments: runtime.ArgumentsRefused},
			true, func(n int64) bool { return n > 4 },
		},
		{"one is wrong", wrong, runtime.MapOptions{}, false, func(n int64) bool { return n > 0 }},
		{"and still is", wrong, runtime.MapOptions{}, false, func(n int64) bool { return n > 0 }},
	} {
		if n, ok := load(c.text, c.how); ok != c.ok || !c.compiles(n) {
			t.Errorf("%s: %d expressions were compiled, ok is %t", c.name, n, ok)
		}
	}
}
