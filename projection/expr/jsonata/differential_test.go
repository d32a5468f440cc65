package jsonata

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// oracleAnswer is a line of testdata/oracle.js.
type oracleAnswer struct {
	Text      *string `json:"text"`
	Undefined bool    `json:"undefined"`
	Code      string  `json:"code"`
	Skip      string  `json:"skip"`
	Upstream  string  `json:"upstream"`
}

// oracle is jsonata-js in a process of its own. Some expressions keep it busy
// for ever; then it is killed, the case skipped and another one started.
type oracle struct {
	dir, node string
	cmd       *exec.Cmd
	in        io.WriteCloser
	lines     chan []byte
}

func startOracle(t testing.TB) *oracle {
	t.Helper()
	dir := os.Getenv("OUTRIDER_JSONATA_NODE")
	if dir == "" {
		t.Skip("OUTRIDER_JSONATA_NODE does not name a directory with node_modules/jsonata")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	o := &oracle{dir: dir, node: node}
	o.start(t)
	t.Cleanup(o.stop)
	return o
}

func (o *oracle) start(t testing.TB) {
	o.cmd = exec.CommandContext(t.Context(), o.node, filepath.Join("testdata", "oracle.js"), o.dir)
	o.cmd.Stderr = os.Stderr
	var err error
	if o.in, err = o.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := o.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := o.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan []byte, 2000)
	o.lines = lines
	go func() {
		sc := bufio.NewScanner(out)
		sc.Buffer(nil, 64<<20)
		for sc.Scan() {
			lines <- append([]byte(nil), sc.Bytes()...)
		}
		close(lines)
	}()
}

func (o *oracle) stop() {
	_ = o.in.Close()
	_ = o.cmd.Process.Kill()
	for range o.lines { // until the reader has ended
	}
	_ = o.cmd.Wait()
}

// ask answers a batch of expressions over their inputs.
func (o *oracle) ask(t testing.TB, exprs, inputs []string) []oracleAnswer {
	t.Helper()
	answers := make([]oracleAnswer, len(exprs))
	for from := 0; from < len(exprs); {
		in := o.in
		go func(from int) {
			w := bufio.NewWriter(in)
			for i := from; i < len(exprs); i++ {
				line, _ := json.Marshal(map[string]string{"expr": exprs[i], "input": inputs[i]})
				_, _ = w.Write(append(line, '\n'))
			}
			_ = w.Flush()
		}(from)
		for from < len(exprs) {
			var line []byte
			select {
			case line = <-o.lines:
			case <-time.After(10 * time.Second):
			}
			if line == nil {
				t.Logf("no answer to %s", exprs[from])
				answers[from].Skip = "no answer"
				from++
				o.stop()
				o.start(t)
				break
			}
			if err := json.Unmarshal(line, &answers[from]); err != nil {
				t.Fatal(err)
			}
			from++
		}
	}
	return answers
}

// setAside counts the differences that doc.go explains.
var setAside int

// difference describes how our outcome differs from the oracle's, "" if not.
func difference(expr, input string, want oracleAnswer) string {
	if want.Skip != "" {
		return ""
	}
	if leaksInternals(expr) {
		return ""
	}
	text := ""
	if want.Text != nil {
		text = *want.Text
	}
	d := runCase(expr, JSONInput([]byte(input)), text, want.Undefined, want.Code)
	if d != "" && want.Upstream != "" {
		setAside++
		return "" // see oracle.js
	}
	if d == "" {
		return d
	}
	p, err := Compile(expr)
	if err != nil {
		return d
	}
	ev := &evaluator{ctx: context.Background(), prog: p, lim: Limits{}.withDefaults(), races: map[string]bool{}}
	_, err = p.run(ev, JSONInput([]byte(input)))
	if err != nil && want.Code != "" && ev.races[want.Code] {
		setAside++
		return "" // two members of one constructor fail; either error will do
	}
	if ev.unchecked {
		setAside++
		return "" // what a builtin of jsonata-js makes of a wrong type is chance
	}
	return d
}

// differentialCase is plain for even seeds and wide for odd ones.
func differentialCase(seed uint64) (expr, input string) {
	if seed%2 == 1 {
		return wideCase(seed)
	}
	g := newGenerator(seed)
	expr = g.expr(1 + g.IntN(4))
	return expr, pick(g, differentialContexts...)
}

// TestDifferential compares generated expressions with jsonata-js. The count
// is 2,000 unless OUTRIDER_JSONATA_CASES says otherwise; OUTRIDER_JSONATA_SEED
// sets the first seed.
func TestDifferential(t *testing.T) {
	o := startOracle(t)
	count, seed := 2000, uint64(1)
	if n, err := strconv.Atoi(os.Getenv("OUTRIDER_JSONATA_CASES")); err == nil {
		count = n
	}
	if n, err := strconv.ParseUint(os.Getenv("OUTRIDER_JSONATA_SEED"), 10, 64); err == nil {
		seed = n
	}
	values, undefs, codes, skipped, bad := 0, 0, 0, 0, 0
	why := map[string]int{}
	for done := 0; done < count; {
		var exprs, inputs []string
		for ; len(exprs) < 500 && done < count; done++ {
			expr, input := differentialCase(seed + uint64(done))
			exprs, inputs = append(exprs, expr), append(inputs, input)
		}
		for i, a := range o.ask(t, exprs, inputs) {
			switch {
			case a.Skip != "":
				skipped++
				why[a.Skip]++
			case leaksInternals(exprs[i]):
				skipped++
				why["shows internals of jsonata-js"]++
			case a.Undefined:
				undefs++
			case a.Code != "":
				codes++
			default:
				values++
			}
			if d := difference(exprs[i], inputs[i], a); d != "" {
				bad++
				if bad <= 40 {
					t.Errorf("%s\n\tover %.300s\n\t%.2000s", exprs[i], inputs[i], d)
				}
			}
		}
	}
	t.Logf("%d cases: %d values, %d undefined, %d error codes, %d not comparable, %d different for a reason in doc.go, %d different", count, values, undefs, codes, skipped, setAside, bad)
	for reason, n := range why {
		t.Logf("not comparable: %6d %s", n, reason)
	}
}

// TestDifferentialAnswersAreErrors keeps the oracle's shape in step with ours.
func TestDifferentialAnswersAreErrors(t *testing.T) {
	_, err := Compile("1 +")
	var e *Error
	if !errors.As(err, &e) || e.Code != "S0207" {
		t.Fatalf("got %v", err)
	}
}
