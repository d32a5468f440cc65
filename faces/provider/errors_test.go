package provider

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Every code of the runtime has a code of the draft, and each of those is used.
func TestEveryCodeIsTold(t *testing.T) {
	used := []Code{UnsupportedMethod, NavigationTimeout, SessionNotFound, SetupRequired} // by methods themselves
	for _, spec := range fault.All() {
		f := failureOf(fault.New(spec.Code, "message").With("what", "seen").Next("look"))
		if !slices.Contains(Codes(), f.Code) || f.Details["code"] != string(spec.Code) ||
			f.Details["next_step"] != "look" && spec.Code != fault.DialogOpen {
			t.Errorf("%s is reported as %+v", spec.Code, f)
		}
		used = append(used, f.Code)
	}
	for code := range wires {
		if _, ok := fault.Lookup(code); !ok {
			t.Errorf("%s is mapped and does not exist", code)
		}
	}
	for _, code := range Codes() {
		if !slices.Contains(used, code) {
			t.Errorf("%s is never reported", code)
		}
	}
	if f := failureOf(fault.New(fault.ElementStale, "gone")); f.Code != ElementNotFound ||
		f.Details["reason"] != "stale" {
		t.Errorf("a stale ref is reported as %+v", f)
	}
}

// A port that the browser refuses stays refused; a server may come back.
func TestAnUnsafePortIsNotRetryable(t *testing.T) {
	for text, retryable := range map[string]bool{"net::ERR_UNSAFE_PORT": false, "net::ERR_CONNECTION_REFUSED": true} {
		f := failureOf(fault.New(fault.NavigationFailed, "the address cannot be loaded").With("error_text", text))
		if f.Retryable != retryable {
			t.Errorf("%s: retryable is %t", text, f.Retryable)
		}
	}
}

func TestLongLinesAreSkipped(t *testing.T) {
	in := bufio.NewReaderSize(strings.NewReader("short\n"+strings.Repeat("x", 5000)+"\r\nafter\nlast"), 16)
	r := lineReader{r: in, limit: 100, held: &held{most: maxLines}}
	for _, want := range []struct {
		line string
		err  error
	}{{"short", nil}, {"", errLineTooLong}, {"after", nil}, {"last", nil}, {"", io.EOF}} {
		line, release, err := r.next()
		release()
		if string(line) != want.line || !errors.Is(err, want.err) {
			t.Errorf("got %q, %v; want %q, %v", line, err, want.line, want.err)
		}
	}
}

// Long lines of all clients are bounded together; short ones always come through.
func TestLongLinesAreBoundedTogether(t *testing.T) {
	all := &held{most: 3 * freeLine}
	long := strings.Repeat("x", 3*freeLine) + "\n"
	reader := func(text string) lineReader {
		return lineReader{r: bufio.NewReader(strings.NewReader(text)), limit: MaxLine, held: all}
	}
	_, first, err := reader(long).next()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := reader(long).next(); !errors.Is(err, errLineTooLong) {
		t.Errorf("a second long line gives %v: expected %v", err, errLineTooLong)
	}
	if line, _, err := reader("short\n").next(); err != nil || string(line) != "short" {
		t.Errorf("a short line beside it gives %q, %v", line, err)
	}
	first()
	if _, release, err := reader(long).next(); err != nil {
		t.Errorf("a long line after it gives %v", err)
	} else {
		release()
	}
	if all.bytes != 0 {
		t.Errorf("%d bytes are counted at the end", all.bytes)
	}
}

func TestAddressPatterns(t *testing.T) {
	for _, c := range []struct{ given, want string }{
		{"https://a.example/*", `^https://a\.example/.*$`},
		{"*/done?x=1", `^.*/done\?x=1$`},
		{"/done$/", "done$"},
		{"/", "^/$"},
	} {
		if got, failure := urlPattern(c.given); failure != nil || got != c.want {
			t.Errorf("%q: got %q, %v; want %q", c.given, got, failure, c.want)
		}
	}
}

func FuzzRequests(f *testing.F) {
	for _, s := range []string{
		`{"id":"1","method":"page.open","params":{}}`, `{"id":1}`, `null`, `{"id":"1","params":[`, "\xff",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		req, id, failure := decodeRequest(line)
		if failure == nil && (id == nil || req.Method == "" || len(req.Params) == 0) {
			t.Errorf("%q was taken as %+v", line, req)
		}
		if failure != nil && failure.Code != InvalidRequest {
			t.Errorf("%q: %s", line, failure.Code)
		}
	})
}
