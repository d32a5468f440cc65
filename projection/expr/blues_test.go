package expr_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
)

func newBlues(t testing.TB, workers int) expr.Engine {
	t.Helper()
	e, err := expr.New(expr.Blues, &expr.Options{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func TestBluesRefusesWhatItGetsWrong(t *testing.T) {
	e := newBlues(t, 1)
	for _, src := range []string{
		`items#$i.n`, `a@$v.b`, `a.%.b`,
		`% .b`, `a ?? 1`, `a ?: 1`, `a.*`, `**.x`, `$keys(a)`, `$each(a, $f)`, `$spread(a)`,
		`items.{'v': $}`, `{'v': $}`, `items.{'v': {'w': 'x' & $}}`,
		`a.($ ~> $trim())`, `$map(a, function($x) { $x ~> $trim() })`,
		`a[b ~> $trim() = 'x']`, `a{b: c ~> $trim()}`, `$map(a, λ($x) { $x ~> $f() })`,
		`$match(a, /(?=x)/)`, `$match(a, /(a)\1/)`, `$match(a, /(?<!x)y/)`,
	} {
		_, err := e.Compile(src)
		if !errors.Is(err, fault.InvalidExpression) || fault.From(err).Evidence["construct"] == nil {
			t.Errorf("Compile(%s) = %v, want invalid_expression with its construct", src, err)
		}
	}
	for _, src := range []string{
		`'a#b@c ?? /* % */'`, "`a@b`", `a % 2`, `(a) % 2`, `a * b`, `a[0] * 2`,
		`a ? b : c`, `$match(a, /#@%/)`, `a / b / c`, `a[0] / 2`,
		`a ~> $trim()`, `a ~> $f(1) ~> $g()`, `a[b ~> /x/]`, `items.{'v': $.x}`,
		`items{k: $count($)}`, `a.($ & 'x')`, `{'v': a.($)}`, `/* @ */ a`,
		`function($x) { $x }`, `a.b[c = 1].d^(>e)`, `{'v': a.$string($)}`,
	} {
		if _, err := e.Compile(src); err != nil {
			t.Errorf("Compile(%s) = %v", src, err)
		}
	}
}

func TestBluesIsRepeatable(t *testing.T) {
	e := newBlues(t, 1)
	p, err := e.Compile(`{'q': a, 'b': {'z': 1, 'y': 2, 'x': 3, 'w': 4}}`)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"q":{"k3":1,"k1":null,"k2":[]},"b":{"z":1,"y":2,"x":3,"w":4}}`
	for range 20 {
		if v, err := p.Eval(t.Context(), input(`{"a":{"k3":1,"k1":null,"k2":[]}}`), expr.Limits{}); err != nil ||
			string(v.JSON) != want {
			t.Fatalf("got %s, %v; want %s", v.JSON, err, want)
		}
	}
}

func TestBluesCloseEndsEvaluationsInFlight(t *testing.T) {
	e, err := expr.New(expr.Blues, &expr.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	p, err := e.Compile(`($f := function($n) { $n < 0 ? 0 : $f($n + 1) }; $f(0))`)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 3 { // one runs, two wait for the worker
		wg.Go(func() {
			if _, err := p.Eval(
				context.Background(), nil, expr.Limits{Time: time.Minute},
			); !errors.Is(err, fault.Cancelled) {
				t.Errorf("evaluation during Close: %v, want cancelled", err)
			}
		})
	}
	time.AfterFunc(50*time.Millisecond, func() { _ = e.Close() })
	wg.Wait()
	if err := e.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if _, err := p.Eval(context.Background(), nil, expr.Limits{}); !errors.Is(err, fault.Cancelled) {
		t.Errorf("evaluation after Close: %v, want cancelled", err)
	}
}

// A worker must end with its host even when the host had no chance to say so
// and the worker is in the middle of an endless evaluation.
func TestBluesWorkerDiesWithItsHost(t *testing.T) {
	if os.Getenv("EXPR_TEST_HOST") != "" {
		e := newBlues(t, 1)
		p, err := e.Compile(`($f := function($n) { $n < 0 ? 0 : $f($n + 1) }; $f(0))`)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = p.Eval(context.Background(), nil, expr.Limits{Time: time.Hour})
		t.Fatal("the evaluation ended")
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("looking for the worker needs /proc")
	}
	host := exec.Command(os.Args[0], "-test.run=^TestBluesWorkerDiesWithItsHost$")
	host.Env = append(os.Environ(), "EXPR_TEST_HOST=1")
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Process.Kill() })
	worker := await(t, "a busy worker", func() string {
		for _, pid := range childrenOf(host.Process.Pid) {
			if cpuTicks(pid) > 10 { // 100 ms of work: it evaluates
				return pid
			}
		}
		return ""
	})
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait()
	await(t, "the end of the worker", func() string {
		// A zombie waits for an init that this container may not have.
		if f := statFields(worker); f == nil || f[0] == "Z" {
			return "gone"
		}
		return ""
	})
}

func await(t *testing.T, what string, check func() string) string {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if s := check(); s != "" {
			return s
		}
	}
	t.Fatalf("waited 20 s for %s", what)
	return ""
}

// statFields returns /proc/PID/stat from the state on, nil when there is no
// such process.
func statFields(pid string) []string {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return nil
	}
	s := string(b)
	return strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
}

func childrenOf(pid int) []string {
	var out []string
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if f := statFields(e.Name()); len(f) > 1 && f[1] == strconv.Itoa(pid) {
			out = append(out, e.Name())
		}
	}
	return out
}

func cpuTicks(pid string) int {
	f := statFields(pid)
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return user + system
}
