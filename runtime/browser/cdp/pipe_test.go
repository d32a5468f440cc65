package cdp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

func TestPipeFrames(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_, other, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := cdp.NewPipe(r, other)
	defer p.Close()
	frames := []string{`{"a":1}`, strings.Repeat("x", 200_000), `y`, strings.Repeat("z", 5<<20), `{}`}
	go func() {
		w.Write([]byte("\x00\x00")) // empty frames are none
		for _, f := range frames {
			// In pieces, across the frame's border.
			b := append([]byte(f), 0)
			for len(b) > 0 {
				n := min(len(b), 70_001)
				w.Write(b[:n])
				b = b[n:]
			}
		}
		w.Write([]byte("unfinished"))
		w.Close()
	}()
	for i, want := range frames {
		got, err := p.Receive()
		if err != nil || string(got) != want {
			t.Fatalf("frame %d: got %d bytes, %v, want %d", i, len(got), err, len(want))
		}
	}
	if _, err := p.Receive(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

// A message that was cut by a deadline is completed before the next begins.
func TestPipeOwesWhatItBegan(t *testing.T) {
	_, unused, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := cdp.NewPipe(unused, w)
	long := append(bytes.Repeat([]byte("a"), 300_000), 0)
	err = p.Send(long, time.Now().Add(50*time.Millisecond))
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("sending into a full pipe: %v", err)
	}
	if err := p.Send([]byte("b\x00"), time.Now().Add(20*time.Millisecond)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("sending behind it: %v", err)
	}
	got := make(chan []byte)
	go func() {
		b, _ := io.ReadAll(r)
		got <- b
	}()
	if err := p.Send([]byte("c\x00"), time.Now().Add(5*time.Second)); err != nil {
		t.Fatal(err)
	}
	p.Close()
	if b := <-got; !bytes.Equal(b, append(long, "c\x00"...)) {
		t.Errorf("got %d bytes ending in %q", len(b), b[max(0, len(b)-5):])
	}
}

func TestUnquote(t *testing.T) {
	for _, s := range []string{
		"", "plain", `a"b\c/d`, "\b\f\n\r\t\x00\x1f", "é漢😀", strings.Repeat(`\"`, 1000), "\u2028<>&",
	} {
		q, _ := json.Marshal(s)
		got, ok := cdp.Unquote(q)
		if !ok || string(got) != s {
			t.Errorf("%s: got %q, %v", q, got, ok)
		}
	}
	for _, q := range []string{`"\ud83d\ude00"`, `"\ud83d"`, `"\ude00x"`, `"\ud83d\u0041"`, `"\/\u00e9"`} {
		var want string
		if err := json.Unmarshal([]byte(q), &want); err != nil {
			t.Fatal(err)
		}
		if got, ok := cdp.Unquote([]byte(q)); !ok || string(got) != want {
			t.Errorf("%s: got %q, %v, want %q", q, got, ok, want)
		}
	}
	for _, q := range []string{``, `"`, `x`, `"\x"`, `"\u12"`, `"\`, `null`, `"\"`} {
		if got, ok := cdp.Unquote([]byte(q)); ok {
			t.Errorf("%s: got %q, want a refusal", q, got)
		}
	}
}

// The scanner agrees with encoding/json on valid frames and survives all others.
func FuzzScanTop(f *testing.F) {
	for _, s := range []string{
		`{"id":1,"result":{"a":[1,{"b":"}"}]},"sessionId":"S"}`, `{"method":"M","params":{"x":"\"\\"}}`,
		` { "id" : 7 , "error" : { } } `, `{}`, `{"a`, `{"id":1}x`, `{"method":"a\u0062"}`,
		"{\"method\":\"\xff\"}", "{\"sessionId\":\"a\xc3\"}", // no UTF-8
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		method, session, id, ok := cdp.ScanTop(b)
		var m map[string]json.RawMessage
		if !bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) || json.Unmarshal(b, &m) != nil {
			return
		}
		var want struct {
			ID        int64  `json:"id"`
			Method    string `json:"method"`
			SessionID string `json:"sessionId"`
		}
		if json.Unmarshal(b, &want) != nil || bytes.ContainsRune(b, '\\') ||
			bytes.Contains(bytes.ToLower(b), []byte("null")) || !ok {
			return
		}
		if len(m) == strings.Count(string(b), `":`) && exactKeys(m) &&
			(method != want.Method || session != want.SessionID || id != want.ID) {
			t.Errorf("%q: got %q %q %d, want %+v", b, method, session, id, want)
		}
	})
}

// exactKeys: encoding/json matches members without regard to case.
func exactKeys(m map[string]json.RawMessage) bool {
	for k := range m {
		for _, name := range []string{"id", "method", "sessionId"} {
			if strings.EqualFold(k, name) && k != name {
				return false
			}
		}
	}
	return true
}
