package mcp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/faces/mcp"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/runtime"
)

// How many places decode, and encode, the arguments and the result of a click between the socket of the client and that
// of the browser. The arguments are decoded by the reader of lines, by the tool, by the handler and its locator, and by
// the log of calls, which keeps no text. The SDK is not counted, nor is the reader of the browser's messages.
const (
	argumentsDecoded, argumentsEncoded = 5, 2
	resultDecoded, resultEncoded       = 2, 2
)

// TestDecodesOfAClick counts who allocates as much as the longest text of the arguments, or of the result, while
// encoding/json is at work. scripts/measure prints what it logs.
func TestDecodesOfAClick(t *testing.T) {
	const long = 9_000
	word := strings.Repeat("n", long)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path == "/in" {
			fmt.Fprint(w, `<!doctype html><title>In</title><button>Buy</button>`)
			return
		}
		fmt.Fprintf(w, `<!doctype html><title>Out</title><button>Sell</button>
<iframe src="/in?%s"></iframe>`, word)
	}))
	t.Cleanup(site.Close)
	call := lines(t, runtimetest.Open(t, runtime.Options{Open: []string{site.URL + "/"}}))
	click := func(locator string) []string {
		line := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pointer_click",`+
			`"arguments":{"locator":%s}}}`, locator)
		for range 2 { // what is done only once is done then
			if answer := call(line); !strings.Contains(answer, `"clicked":true`) {
				t.Fatalf("%.1000s", answer)
			}
		}
		return allocated(long, func() { call(line) })
	}
	for _, c := range []struct {
		what, locator    string
		decoded, encoded int
	}{
		{"arguments", `{"role":"button","selector":":not(#` + word + `)"}`, argumentsDecoded, argumentsEncoded},
		{"result", `{"role":"button","name":"Buy","any_frame":true}`, resultDecoded, resultEncoded},
	} {
		found := click(c.locator)
		decoded := 0
		for _, f := range found {
			if strings.HasPrefix(f, "decoded") {
				decoded++
			}
		}
		encoded := len(found) - decoded
		t.Logf("%s: decoded %d, encoded %d", c.what, decoded, encoded)
		if decoded > c.decoded || encoded > c.encoded {
			t.Errorf("%s: expected %d and %d\n%s", c.what, c.decoded, c.encoded, strings.Join(found, "\n"))
		}
	}
}

// lines serves a client that writes lines, and returns a function that writes one and reads its answer.
func lines(t *testing.T, host mcp.Host) func(line string) string {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	server, err := mcp.New(ctx, mcp.Options{Host: host, NewID: newID, Version: "test", Tools: "pointer.click"})
	if err != nil {
		t.Fatal(err)
	}
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- server.ServeStdio(ctx, fromClient, toClient) }()
	t.Cleanup(func() {
		_ = toServer.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := server.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	answers := bufio.NewReader(fromServer)
	send := func(line string) {
		if _, err := io.WriteString(toServer, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	call := func(line string) string {
		send(line)
		answer, err := answers.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	call(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return call
}

// allocated are the functions of this module that called encoding/json while f ran, where that allocated so many bytes
// at once.
func allocated(bytes int64, f func()) []string {
	rate := goruntime.MemProfileRate
	goruntime.MemProfileRate = 1
	before := profile()
	f()
	after := profile()
	goruntime.MemProfileRate = rate
	found := map[string]bool{}
	for stack, r := range after {
		n := r.AllocObjects - before[stack].AllocObjects
		if n > 0 && (r.AllocBytes-before[stack].AllocBytes)/n >= bytes {
			if by := jsonBy(r.Stack()); by != "" {
				found[by] = true
			}
		}
	}
	all := make([]string, 0, len(found))
	for by := range found {
		all = append(all, by)
	}
	slices.Sort(all)
	return all
}

// profile are all allocations by their size and where they were made.
func profile() map[string]goruntime.MemProfileRecord {
	for range 3 { // what was allocated is counted two collections later
		goruntime.GC()
	}
	n, _ := goruntime.MemProfile(nil, true)
	records := make([]goruntime.MemProfileRecord, n+1000)
	n, _ = goruntime.MemProfile(records, true)
	all := make(map[string]goruntime.MemProfileRecord, n)
	for _, r := range records[:n] {
		size := int64(0)
		if r.AllocObjects > 0 {
			size = r.AllocBytes / r.AllocObjects
		}
		all[fmt.Sprint(size, r.Stack())] = r
	}
	return all
}

// jsonBy is which function of this module called encoding/json, and what for; "" where none did.
func jsonBy(stack []uintptr) string {
	frames := goruntime.CallersFrames(stack)
	what := ""
	for {
		frame, more := frames.Next()
		switch name := frame.Function; {
		case strings.HasPrefix(name, "encoding/json.Unmarshal"), strings.HasPrefix(name, "encoding/json.(*Decoder)."):
			what = "decoded"
		case strings.HasPrefix(name, "encoding/json.Marshal"), strings.HasPrefix(name, "encoding/json.(*Encoder)."):
			what = "encoded"
		case what != "" && strings.HasPrefix(name, "github.com/outrider-run/"):
			return fmt.Sprintf("%s by %s:%d", what, name, frame.Line)
		case what != "" && !strings.HasPrefix(name, "encoding/json."):
			return ""
		}
		if !more {
			return ""
		}
	}
}
