package jsonata

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"
)

// sharedData finds a file of the published expressions, in the directory that
// OUTRIDER_JSONATA_DATA names.
func sharedData(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("OUTRIDER_JSONATA_DATA")
	if dir == "" {
		t.Skip("OUTRIDER_JSONATA_DATA names no folder of the published expressions")
	}

	file := filepath.Join(dir, name)
	if _, err := os.Stat(file); err != nil {
		t.Skipf("OUTRIDER_JSONATA_DATA has no such file: %v", err)
	}
	return file
}

func decodeFile(t testing.TB, path string) *object {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := decoder{src: string(raw)}
	v, err := d.document()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return v.obj()
}

// knownFailures reads testdata/known-failures.txt: one "case # reason" a line.
func knownFailures(t testing.TB) map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "known-failures.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	known := map[string]string{}
	for s := bufio.NewScanner(f); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		name, reason, ok := strings.Cut(line, " # ")
		if !ok {
			t.Fatalf("known-failures.txt: %q has no reason", line)
		}
		known[name] = reason
	}
	return known
}

func jsonText(t testing.TB, v value) string {
	t.Helper()
	ev := &evaluator{ctx: context.Background(), lim: Limits{Bytes: 1 << 40, Steps: 1 << 60}.withDefaults()}
	w := writer{ev: ev}
	if err := w.value(v, 0); err != nil {
		t.Fatal(err)
	}
	return string(w.buf)
}

// sameJSON compares like the suite does: deeply, whatever the order of keys.
func sameJSON(t testing.TB, got string, want value, unordered bool) bool {
	t.Helper()
	d := decoder{src: got}
	v, err := d.document()
	if err != nil {
		t.Fatalf("result is not JSON: %v: %s", err, got)
	}
	ev := &evaluator{ctx: context.Background(), lim: Limits{Bytes: 1 << 40, Steps: 1 << 60}.withDefaults()}
	if unordered && v.isArray() && want.isArray() {
		return sortedTexts(t, v) == sortedTexts(t, want)
	}
	eq, err := ev.equal(v, want, 0)
	if err != nil {
		t.Fatal(err)
	}
	return eq
}

func sortedTexts(t testing.TB, v value) string {
	var texts []string
	for _, it := range v.arr().items {
		texts = append(texts, jsonText(t, it))
	}
	sort.Strings(texts)
	return strings.Join(texts, ",")
}

// suiteLimits translates the limits of a suite case: its depth counts nested
// evaluations, of which a call takes three.
func suiteLimits(c *object) Limits {
	lim := Limits{SequenceLength: 20_000_000, Bytes: 2 << 30, Depth: 1000}
	if d := c.get("depth"); d.isNumber() && d.num() > 20 {
		lim.Depth = int(d.num() / 3)
	}
	return lim
}

func runSuiteCase(t testing.TB, c, datasets *object) (ok bool, detail string) {
	expr := c.get("expr").str()
	in := UndefinedInput()
	if d := c.get("data"); !d.isUndefined() {
		in = Input{form: inputValue, v: d}
	} else if d := c.get("dataset"); d.isString() {
		in = Input{form: inputValue, v: datasets.get(d.str())}
	}
	var bindings map[string]value
	if b := c.get("bindings"); b.isObject() && b.obj().len() > 0 {
		bindings = map[string]value{}
		for i, k := range b.obj().sh.keys {
			bindings[k] = b.obj().vals[i]
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var res Result
	p, err := Compile(expr)
	if err == nil {
		res, err = p.evalWith(ctx, in, suiteLimits(c), bindings)
	}
	wantCode := ""
	if v := c.get("code"); v.isString() {
		wantCode = v.str()
	} else if v := c.get("error"); v.isObject() {
		wantCode = textOf(v.obj().get("code"))
	}
	if wantCode != "" || !c.get("error").isUndefined() {
		var e *Error
		if !errors.As(err, &e) {
			return false, "want code " + wantCode + ", got " + string(res.JSON)
		}
		return e.Code == wantCode, "want code " + wantCode + ", got " + e.Error()
	}
	if err != nil {
		return false, err.Error()
	}
	if v := c.get("undefinedResult"); v.kind() == kBool {
		return res.Undefined, "want undefined, got " + string(res.JSON)
	}
	want := c.get("result")
	if res.Undefined {
		return false, "got undefined, want " + jsonText(t, want)
	}
	if sameJSON(t, string(res.JSON), want, c.get("unordered").kind() == kBool) {
		return true, ""
	}
	return false, "got " + string(res.JSON) + ", want " + jsonText(t, want)
}

// TestOfficialSuite runs the suite of jsonata-js. A case listed in
// testdata/known-failures.txt must fail; any other must pass.
func TestOfficialSuite(t *testing.T) {
	doc := decodeFile(t, sharedData(t, "jsonata-suite.json"))
	datasets := doc.get("datasets").obj()
	known := knownFailures(t)
	passed, total := 0, 0
	for _, cv := range doc.get("cases").arr().items {
		c := cv.obj()
		name := textOf(c.get("group")) + "/" + textOf(c.get("case"))
		total++
		ok, detail := runSuiteCase(t, c, datasets)
		if ok {
			passed++
		}
		reason, listed := known[name]
		switch {
		case ok && listed:
			t.Errorf("%s passes but is listed as a known failure (%s)", name, reason)
		case !ok && !listed:
			if len(detail) > 400 {
				detail = detail[:400] + "..."
			}
			t.Errorf("%s: %s\n\t%s", name, textOf(c.get("expr")), detail)
		}
		delete(known, name)
	}
	for name := range known {
		t.Errorf("known-failures.txt lists %s, which the suite does not have", name)
	}
	t.Logf("%d of %d", passed, total)
}

// TestSitemapCorpus runs expressions as site maps write them and wants the
// very bytes of JSON.stringify.
func TestSitemapCorpus(t *testing.T) {
	doc := decodeFile(t, sharedData(t, "jsonata-sitemap-corpus.json"))
	contexts := doc.get("contexts").obj()
	passed, total := 0, 0
	for _, cv := range doc.get("cases").arr().items {
		c := cv.obj()
		total++
		raw := jsonText(t, contexts.get(textOf(c.get("ctx"))))
		detail := runCase(
			textOf(c.get("expr")), JSONInput([]byte(raw)), textOf(c.get("text")),
			c.get("undefined").kind() == kBool, textOf(c.get("code")),
		)
		if detail != "" {
			t.Errorf("%s: %s\n\t%s", textOf(c.get("id")), textOf(c.get("expr")), detail)
			continue
		}
		passed++
	}
	t.Logf("%d of %d", passed, total)
}

// runCase evaluates and describes how the outcome differs from what is wanted.
func runCase(expr string, in Input, text string, undef bool, code string) string {
	res, err := outcome(expr, in)
	return describe(res, err, text, undef, code)
}

func outcome(expr string, in Input) (Result, error) {
	p, err := Compile(expr)
	if err != nil {
		return Result{}, err
	}
	return p.Eval(context.Background(), in, Limits{})
}

// describe tells how an outcome differs from what is wanted, "" if it does not.
func describe(res Result, err error, text string, undef bool, code string) string {
	got := string(res.JSON)
	if err != nil {
		got = err.Error()
		var e *Error
		if errors.As(err, &e) && code != "" && e.Code == code {
			return ""
		}
	} else if code == "" && res.Undefined == undef && got == text {
		return ""
	}
	want := text
	if undef {
		want = "undefined"
	}
	if code != "" {
		want = code
	}
	if err == nil && res.Undefined {
		got = "undefined"
	}
	return "got " + got + "\n\twant " + want
}
