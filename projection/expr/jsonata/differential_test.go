package jsonata

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// question is a line to testdata/oracle.js.
type question struct {
	Expr     string `json:"expr"`
	Input    string `json:"input"`
	Repaired bool   `json:"repaired,omitempty"` // ask the library without its known faults
}

// oracleAnswer is a line from testdata/oracle.js.
type oracleAnswer struct {
	Text      *string  `json:"text"`
	Undefined bool     `json:"undefined"`
	Code      string   `json:"code"`
	Functions bool     `json:"functions"` // builtins are in the text
	Crash     string   `json:"crash"`     // a failure without a code
	Faults    []string `json:"faults"`    // the repairs that made themselves felt
	Silent    bool     `json:"-"`         // it never answered
}

// comparable says that there is an outcome to compare ours with.
func (a *oracleAnswer) comparable() bool {
	return !a.Silent && (a.Text != nil || a.Undefined || a.Code != "")
}

// oracle is jsonata-js in a process of its own. Some expressions keep it busy
// for ever; then it is killed, its answer is Silent, and another one started.
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
	o.in, err = o.cmd.StdinPipe()
	if err != nil {
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
	select {
	case line := <-lines:
		if line == nil {
			t.Fatal("testdata/oracle.js did not start")
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("testdata/oracle.js is not ready after two minutes")
	}
}

func (o *oracle) stop() {
	_ = o.in.Close()
	_ = o.cmd.Process.Kill()
	for range o.lines { // until the reader has ended
	}
	_ = o.cmd.Wait()
}

// ask answers a batch of questions.
func (o *oracle) ask(t testing.TB, questions []question) []oracleAnswer {
	t.Helper()
	answers := make([]oracleAnswer, len(questions))
	for from := 0; from < len(questions); {
		in := o.in
		go func(from int) {
			w := bufio.NewWriter(in)
			for _, q := range questions[from:] {
				line, _ := json.Marshal(q)
				_, _ = w.Write(append(line, '\n'))
			}
			_ = w.Flush()
		}(from)
		for from < len(questions) {
			var line []byte
			select {
			case line = <-o.lines:
			case <-time.After(10 * time.Second):
			}
			if line == nil {
				t.Logf("no answer to %s", questions[from].Expr)
				answers[from].Silent = true
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

// A builtin in a result of jsonata-js also shows the place of its last call in
// the whole process, which is nobody's to reproduce.
var lastCall = regexp.MustCompile(`("signature":\{"definition":"[^"]*"\})(?:,"token":"\w*")?(?:,"position":\d+)?`)

// difference describes how our outcome differs from an answer, "" if not.
func difference(q question, a *oracleAnswer) string {
	text := ""
	if a.Text != nil {
		text = *a.Text
	}
	got, err := outcome(q.Expr, JSONInput([]byte(q.Input)))
	if a.Functions && err == nil {
		got.JSON = lastCall.ReplaceAll(got.JSON, []byte("$1"))
		text = lastCall.ReplaceAllString(text, "$1")
	}
	return describe(got, err, text, a.Undefined, a.Code)
}

// verdict is what the comparison of one case comes to.
type verdict struct {
	kind  string // "value", "undefined", "code", or the faults that set the case aside
	aside bool
	diff  string // how the two differ, "" if they do not or were set aside
}

// judge compares a batch: with the library as published, and where that
// differs or has no outcome, with the repaired one. A case is set aside only
// when the repaired library agrees with us and a repair made itself felt.
func (o *oracle) judge(t testing.TB, questions []question) []verdict {
	t.Helper()
	verdicts := make([]verdict, len(questions))
	var again []question
	var at []int
	for i, a := range o.ask(t, questions) {
		v := &verdicts[i]
		v.diff = "jsonata-js failed without a code: " + a.Crash
		if a.comparable() {
			v.diff = difference(questions[i], &a)
		}
		switch {
		case v.diff != "":
			q := questions[i]
			q.Repaired = true
			again, at = append(again, q), append(at, i)
		case a.Undefined:
			v.kind = "undefined"
		case a.Code != "":
			v.kind = "code"
		default:
			v.kind = "value"
		}
	}
	for k, a := range o.ask(t, again) {
		v := &verdicts[at[k]]
		switch {
		case a.Silent:
			v.diff += "\n\trepaired: no answer"
		case !a.comparable():
			v.diff += "\n\trepaired: failed without a code: " + a.Crash
		default:
			diff := difference(again[k], &a)
			if diff == "" && len(a.Faults) > 0 {
				*v = verdict{kind: strings.Join(a.Faults, " + "), aside: true}
			} else if diff != "" {
				v.diff += "\n\trepaired: " + diff
			}
		}
	}
	return verdicts
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
	agreed, aside := map[string]int{}, map[string]int{}
	sum, bad := 0, 0
	for done := 0; done < count; {
		var questions []question
		for ; len(questions) < 500 && done < count; done++ {
			expr, input := differentialCase(seed + uint64(done))
			questions = append(questions, question{Expr: expr, Input: input})
		}
		for i, v := range o.judge(t, questions) {
			switch {
			case v.diff != "":
				if bad++; bad <= 40 {
					t.Errorf("%s\n\tover %.300s\n\t%.2000s", questions[i].Expr, questions[i].Input, v.diff)
				}
			case v.aside:
				sum++
				aside[v.kind]++
			default:
				agreed[v.kind]++
			}
		}
	}
	t.Logf("seed %d, %d cases: %d different; agreed on %d values, %d undefined, %d error codes; %d set aside, where "+
		"we agree with the repaired library only",
		seed, count, bad, agreed["value"], agreed["undefined"], agreed["code"], sum)
	for _, faults := range slices.Sorted(maps.Keys(aside)) {
		t.Logf("set aside: %6d %s", aside[faults], faults)
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
