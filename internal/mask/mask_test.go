package mask_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/primitives/fault"
)

func setOf(t *testing.T, pairs ...string) *mask.Set {
	t.Helper()
	s := &mask.Set{}
	for i := 0; i < len(pairs); i += 2 {
		if err := s.Add(pairs[i], pairs[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// awkward has a character of each kind that some form escapes.
const awkward = "p&ä<s\"w \\d%'/+=\t𝄞x"

// formsOf are the ways in which a text can stand in an output.
func formsOf(t *testing.T, value string) map[string]string {
	t.Helper()
	marshal := func(v string) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Trim(string(b), `"`)
	}
	plainJSON := func(v string) string {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		text := strings.TrimSuffix(b.String(), "\n")
		return text[1 : len(text)-1]
	}
	quoted := strconv.QuoteToASCII(value)
	return map[string]string{
		"plain":           value,
		"JSON":            plainJSON(value),
		"JSON for HTML":   marshal(value),
		"JSON in JSON":    plainJSON(plainJSON(value)),
		"Go":              quoted[1 : len(quoted)-1],
		"query":           url.QueryEscape(value),
		"path":            url.PathEscape(value),
		"lower hex":       strings.ToLower(url.PathEscape("zz"))[2:] + lowerHex(value),
		"query in query":  url.QueryEscape(url.QueryEscape(value)),
		"HTML":            html.EscapeString(value),
		"HTML in HTML":    html.EscapeString(html.EscapeString(value)),
		"base64":          base64.StdEncoding.EncodeToString([]byte(value)),
		"base64 after 1":  base64.StdEncoding.EncodeToString([]byte("u" + value + "tail")),
		"base64 after 2":  base64.StdEncoding.EncodeToString([]byte("u:" + value + "tail")),
		"base64 of a URL": base64.RawURLEncoding.EncodeToString([]byte("u:" + value)),
	}
}

func lowerHex(value string) string {
	var b strings.Builder
	for i := range len(value) {
		fmt.Fprintf(&b, "%%%02x", value[i])
	}
	return b.String()
}

func TestEachFormIsMasked(t *testing.T) {
	for _, value := range []string{
		awkward, "hunter2-correct-horse", "1234", "C:\\a\\b\\", `\\host\\\share`, "50%25off", "a&amp;b&", "%41%42",
	} {
		s := setOf(t, "PW", value)
		for name, text := range formsOf(t, value) {
			if strings.HasPrefix(name, "base64 ") && len(value) < 7 {
				continue // too short for a part of a longer text
			}
			got := s.Mask("before " + text + " after")
			if !strings.Contains(got, "{{secret:PW}}") || strings.Contains(got, text) {
				t.Errorf("%q as %s: %q stays", value, name, got)
			}
			if !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
				t.Errorf("%q as %s: what is around it changed: %q", value, name, got)
			}
		}
	}
}

func TestOtherTextStays(t *testing.T) {
	s := setOf(t, "PW", awkward, "PIN", "1234", "LONG", "hunter2-correct-horse")
	noise := make([]byte, 300_000)
	for i, x := 0, uint32(1); i < len(noise); i++ {
		x = x*1664525 + 1013904223
		noise[i] = byte(x >> 24)
	}
	picture := "data:image/png;base64," + base64.StdEncoding.EncodeToString(noise)
	if !strings.Contains(picture, "1234") {
		picture = picture[:1000] + "1234" + picture[1004:]
	}
	for _, text := range []string{
		"", "hunter2", "hunter2-correct-hors", "123 4", "%", `\`,
		"&", "&amp", picture, "{{secret:OTHER}}", "{{secret:PW}}",
	} {
		if got := s.Mask(text); got != text {
			t.Errorf("%.60q became %.60q", text, got)
		}
	}
}

func TestTextCutInsideASecret(t *testing.T) {
	s := setOf(t, "PW", "hunter2-correct-horse")
	for text, want := range map[string]string{
		"it is hunter2-corre…":   "it is {{secret:PW}}…",
		"it is hunter2-corre...": "it is {{secret:PW}}...",
		"it is hun…":             "it is hun…",
	} {
		if got := s.Mask(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestBeginningsOfASecretThatIsTyped(t *testing.T) {
	s := setOf(t, "PW", "hunter2-correct-horse")
	if got := s.Mask(`{"typed":"hunter2"}`); got != `{"typed":"hunter2"}` {
		t.Error(got)
	}
	s.TypedByKeys("PW", "OTHER")
	for text, want := range map[string]string{
		`{"typed":"hunter2"}`: `{"typed":"{{secret:PW}}"}`,
		"hunter2-corr":        "{{secret:PW}}",
		"hunters":             "hunters",
		"hun":                 "hun",
	} {
		if got := s.Mask(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestTheLongerSecretWins(t *testing.T) {
	s := setOf(t, "A", "password", "B", "password-of-root", "C", "secret")
	if got := s.Mask(
		"password-of-root and password, {{secret:A}}",
	); got != "{{secret:B}} and {{secret:A}}, {{secret:A}}" {
		t.Error(got)
	}
	key := setOf(t, "KEY", "-----BEGIN-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQEF\n")
	if got := key.Mask("level=warn\n  kqhkiG9w0BAQEF\n"); strings.Contains(got, "kqhkiG9w0BAQEF") {
		t.Error("a line of a key stays:", got)
	}
}

func TestMaskJSON(t *testing.T) {
	s := setOf(t, "PW", awkward, "PIN", "12345")
	in, err := json.Marshal(map[string]any{
		"a":      "x" + awkward,
		awkward:  []any{12345, "y", 1.5, true, nil},
		"nested": `{"p":` + strconv.Quote(awkward) + "}",
	})
	if err != nil {
		t.Fatal(err)
	}
	got := s.MaskJSON(in)
	var out map[string]any
	if err := json.Unmarshal(got, &out); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	list, _ := out["{{secret:PW}}"].([]any)
	if out["a"] != "x{{secret:PW}}" || len(list) != 5 || list[0] != "{{secret:PIN}}" ||
		!strings.Contains(out["nested"].(string), "{{secret:PW}}") {
		t.Errorf("got %s", got)
	}
	// Nothing is taken apart inside an escape.
	half := setOf(t, "N", "nabcd", "U", "0041bcd", "B", `abcd\`)
	for _, text := range []string{`"\nabcd"`, `"\u0041bcd "`, `"abcd\n"`, `{"a":"\\\\abc"}`} {
		got := half.MaskJSON(json.RawMessage(text))
		var a, b any
		if json.Unmarshal([]byte(text), &a) != nil || json.Unmarshal(got, &b) != nil || fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%s became %s", text, got)
		}
	}
	same := json.RawMessage(` {"a" : 1.50, "b":"\u00e4"} `)
	if got := s.MaskJSON(same); !bytes.Equal(got, same) {
		t.Errorf("what has no secret changed: %s", got)
	}
}

func TestAPageCannotAskForASecret(t *testing.T) {
	s := setOf(t, "PW", "hunter2-correct-horse")
	got := string(s.FromPage(json.RawMessage(`{"text":"{{secret:PW}} \u007b{secret:PW}} hunter2-correct-horse"}`)))
	if got != `{"text":"{{ secret:PW}} {{ secret:PW}} {{secret:PW}}"}` {
		t.Error(got)
	}
}

func TestWriterFindsASecretInTwoWrites(t *testing.T) {
	for _, value := range []string{awkward, "hunter2-correct-horse", "12\n34"} {
		s := setOf(t, "PW", value)
		for form, text := range formsOf(t, value) {
			if strings.HasPrefix(form, "base64 ") && len(value) < 7 {
				continue
			}
			all := "one " + text + " two\n"
			want := s.Mask(all)
			for cut := range len(all) + 1 {
				var b bytes.Buffer
				w := s.Writer(&b)
				for _, part := range []string{all[:cut], all[cut:]} {
					if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
						t.Fatal(n, err)
					}
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				if b.String() != want {
					t.Errorf("%q as %s, cut at %d: got %q, want %q", value, form, cut, b.String(), want)
				}
			}
			var b bytes.Buffer
			w := s.Writer(&b)
			for i := range len(all) {
				if _, err := w.Write([]byte{all[i]}); err != nil {
					t.Fatal(err)
				}
			}
			if b.String() != want {
				t.Errorf("%q as %s, byte by byte: got %q, want %q", value, form, b.String(), want)
			}
		}
	}
}

func TestWriterHoldsNothingBackWithoutNeed(t *testing.T) {
	var b bytes.Buffer
	s := &mask.Set{}
	w := s.Writer(&b)
	write := func(text, want string) {
		t.Helper()
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if b.String() != want {
			t.Errorf("after %q: %q, want %q", text, b.String(), want)
		}
	}
	write("h", "h")
	if err := s.Add("PW", "hunter2-correct-horse"); err != nil {
		t.Fatal(err)
	}
	write("x\n", "hx\n")
	write("hunt", "hx\n")
	write("ing\n", "hx\nhunting\n")
}

// documents are outputs of ours, as they are without a secret and with these.
var documents = []struct{ name, text, want string }{
	{"names, numbers and words of ours stay",
		`{"name":"my name is test","test":true,"duration_ms":1234,"outcome":"passed","root":["root","1234"],` +
			`"code":"target_not_found"}` + "\n",
		`{"name":"my {{secret:N}} is {{secret:T}}","test":true,"duration_ms":1234,"outcome":"passed",` +
			`"root":["{{secret:R}}","{{secret:D}}"],"code":"target_not_found"}` + "\n"},
	{
		"an indented one", "{\n  \"name\": \"test\",\n  \"n\": 1234\n}\n",
		"{\n  \"name\": \"{{secret:T}}\",\n  \"n\": 1234\n}\n",
	},
	{"words after it", "{\"a\":1234}\nthe name\n", "{\"a\":1234}\nthe {{secret:N}}\n"},
	{"two of them", "[1234]\n[\"test\"]\n", "[1234]\n[\"{{secret:T}}\"]\n"},
	{"none", "[1234] name\n{test}\n", "[{{secret:D}}] {{secret:N}}\n{{{secret:T}}}\n"},
	{"one that was cut", "{\"name\": \"te", "{\"{{secret:N}}\": \"te"},
	{
		"a long secret as a name and as a number", "{\"hunter2-correct\":41111111111,\"x\":411111111112}\n",
		"{\"{{secret:LONG}}\":\"{{secret:CARD}}\",\"x\":411111111112}\n",
	},
	{"a secret that is JSON", "{\"key\":\"abcdef\"}\n", "{{secret:KEY}}\n"},
	{"not at the beginning of a line", "got {\"name\":1234}\n", "got {\"{{secret:N}}\":{{secret:D}}}\n"},
}

// TestDocumentsStayJSON: secrets that are ordinary words and numbers take nothing from a
// JSON document but what its strings say, however it is written.
func TestDocumentsStayJSON(t *testing.T) {
	s := setOf(t, "T", "test")
	for name, value := range map[string]string{
		"R":    "root",
		"D":    "1234",
		"N":    "name",
		"P":    "pass",
		"LONG": "hunter2-correct",
		"CARD": "41111111111",
		"KEY":  `{"key":"abcdef"}`,
	} {
		if err := s.Add(name, value); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range documents {
		for _, step := range []int{1, 7, len(d.text)} {
			var b bytes.Buffer
			w := s.Writer(&b)
			for text := d.text; text != ""; text = text[min(step, len(text)):] {
				if _, err := w.Write([]byte(text[:min(step, len(text))])); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if b.String() != d.want {
				t.Errorf("%s, %d bytes at a time: got %q, want %q", d.name, step, b.String(), d.want)
			}
		}
		if json.Valid([]byte(d.text)) {
			if got := string(s.MaskBytes([]byte(d.text))); got != d.want {
				t.Errorf("%s, as a file: got %q, want %q", d.name, got, d.want)
			}
		}
	}
	var b bytes.Buffer
	w := s.Writer(&b)
	fmt.Fprint(w, "[y/N] ")
	if b.String() != "[y/N] " {
		t.Errorf("a question waits: %q", b.String())
	}
	fmt.Fprint(w, "\n{\"name\":")
	fmt.Fprint(mask.Written(w), "::name::\n")
	if want := "[y/N] \n{\"{{secret:N}}\":::name::\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

// TestNumbersOfPages: a number that a page says is a secret when all of it is.
func TestNumbersOfPages(t *testing.T) {
	s := setOf(t, "PIN", "1234")
	got := string(s.MaskJSON([]byte(`{"pin":1234,"minus":-1234,"other":12345,"name":"x1234","pin 1234":1}`)))
	if want := `{"pin":"{{secret:PIN}}","minus":"{{secret:PIN}}","other":12345,"name":"x{{secret:PIN}}",` +
		`"pin {{secret:PIN}}":1}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestNamesAndValuesThatAreRefused(t *testing.T) {
	s := setOf(t, "PW", "hunter2")
	for _, c := range []struct{ name, value, want string }{
		{"", "value", "no name"}, {"a b", "value", "no name"}, {"1a", "value", "no name"}, {"PIN", "123", "at least 4"},
		{"BIG", strings.Repeat("x", 70_000), "at most"}, {"PW", "other", "two secrets named PW"},
	} {
		if err := s.Add(c.name, c.value); err == nil || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	if err := s.Add("PW", "hunter2"); err != nil {
		t.Errorf("the same again: %v", err)
	}
	if text := fmt.Sprintf("%v %+v %#v %s", s, s, s, s); strings.Contains(text, "hunter2") {
		t.Errorf("printing the set shows what is in it: %s", text)
	}
}

func TestReveal(t *testing.T) {
	s := setOf(t, "PW", "hunter2", "PW2", "swordfish")
	if err := s.Add("BOUND", "sesame", "https://*.example.com", "http://localhost:8080"); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Reveal("{{secret:PW}}/{{secret:PW2}} {{x}}", ""); got != "hunter2/swordfish {{x}}" || err != nil {
		t.Error(got, err)
	}
	if _, err := s.Reveal("{{secret:NONE}}", ""); !errors.Is(err, fault.InvalidInput) {
		t.Errorf("got %v", err)
	}
	for address, ok := range map[string]bool{
		"https://a.example.com/x": true, "https://a.b.example.com:443/": true, "http://localhost:8080/": true,
		"https://example.com.evil.org/": false, "https://evilexample.com/": false,
		"http://a.example.com/": false, "http://localhost/": false, "about:blank": false, "": false,
	} {
		if _, err := s.Reveal("{{secret:BOUND}}", address); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
	if got := mask.Used(
		"{{secret:A}} {{secret:}} {{secret:{{secret:B}} {{secret:A}} {{secret:C",
	); !slices.Equal(got, []string{"A", "B"}) {
		t.Error(got)
	}
}

func TestReferences(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "pw"), []byte("from a file\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OUTRIDER_TEST_SECRET", "from the environment")
	for text, want := range map[string]string{
		"env:OUTRIDER_TEST_SECRET": "from the environment",
		"file:pw":                  "from a file",
		"cmd:cat pw":               "from a file",
	} {
		r, err := mask.ParseReference(text)
		if err != nil {
			t.Fatal(text, err)
		}
		if got, err := r.Resolve(t.Context(), dir); got != want || err != nil {
			t.Errorf("%s: got %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "env:", "hunter2", "vault:x", "cmd: "} {
		if _, err := mask.ParseReference(text); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"env:OUTRIDER_TEST_NONE", "file:none", "cmd:false", "cmd:no-such-program-here"} {
		r, err := mask.ParseReference(text)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := r.Resolve(t.Context(), dir); err == nil {
			t.Errorf("%s gave %q", text, v)
		}
	}
}

func TestFaultsAreMasked(t *testing.T) {
	s := setOf(t, "PW", "hunter2")
	e := s.Fault(fault.Wrap(fault.TargetNotFound, errors.New("saw hunter2"), "no hunter2 here").
		With("text", "is hunter2").With("count", 3))
	all := e.Error() + fmt.Sprint(e.Err) + fmt.Sprintf("%s", e.Evidence["text"])
	if strings.Contains(all, "hunter2") || e.Evidence["count"] != 3 || !errors.Is(e, fault.TargetNotFound) {
		t.Error(all, e.Evidence)
	}
}

func TestPaint(t *testing.T) {
	source := image.NewRGBA(image.Rect(0, 0, 20, 20))
	for i := range source.Pix {
		source.Pix[i] = 0xff
	}
	var b bytes.Buffer
	if err := png.Encode(&b, source); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"png", "jpeg"} {
		out, err := mask.Paint(b.Bytes(), format, 0, []image.Rectangle{image.Rect(-5, 5, 10, 100)})
		if err != nil {
			t.Fatal(err)
		}
		got, kind, err := image.Decode(bytes.NewReader(out))
		if err != nil || kind != format {
			t.Fatal(kind, err)
		}
		light := func(x, y int) bool { return color.GrayModel.Convert(got.At(x, y)).(color.Gray).Y > 0xc0 }
		if light(2, 12) || !light(2, 1) || !light(18, 12) {
			t.Errorf("%s: the wrong part is covered", format)
		}
	}
}

func FuzzMask(f *testing.F) {
	f.Add("hunter2-correct", "x hunter2-correct y")
	f.Add(awkward, `\\u0070&amp;%25`)
	f.Fuzz(func(t *testing.T, value, text string) {
		s := &mask.Set{}
		if s.Add("PW", value) != nil {
			return
		}
		got := s.Mask(text)
		if strings.Contains(got, value) && !strings.Contains("{{secret:PW}}", value) && len([]rune(value)) >= 10 {
			t.Errorf("%q stays in %q", value, got)
		}
		var b bytes.Buffer
		w := s.Writer(&b)
		_, _ = w.Write([]byte(text[:len(text)/2]))
		_, _ = w.Write([]byte(text[len(text)/2:]))
		_ = w.Close()
		if b.String() != got && len([]rune(value)) >= 10 {
			t.Errorf("the writer says %q, Mask %q", b.String(), got)
		}
	})
}

// TestGrant: a set that is granted has what was asked for, and no more rights than either
// side gave.
func TestGrant(t *testing.T) {
	s := &mask.Set{}
	for name, origins := range map[string][]string{"FREE": nil, "BOUND": {"https://*.example.com", "https://a.test"}} {
		if err := s.Add(name, "value-of-"+name, origins...); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		wanted    map[string][]string
		page      string
		text      string
		forbidden bool
	}{
		"everywhere":     {map[string][]string{"FREE": nil}, "https://x.test/", "FREE", false},
		"asked for less": {map[string][]string{"FREE": {"https://y.test"}}, "https://x.test/", "FREE", true},
		"has less":       {map[string][]string{"BOUND": nil}, "https://x.test/", "BOUND", true},
		"both, the narrower": {
			map[string][]string{"BOUND": {"https://shop.example.com"}}, "https://shop.example.com/", "BOUND", false,
		},
		"both, beside the narrower": {
			map[string][]string{"BOUND": {"https://shop.example.com"}}, "https://blog.example.com/", "BOUND", true,
		},
		"both, the wider": {
			map[string][]string{"BOUND": {"https://*.example.com", "https://*.test"}},
			"https://a.test/", "BOUND", false,
		},
		"not asked for": {map[string][]string{"FREE": nil}, "https://a.test/", "BOUND", true},
	} {
		granted, err := s.Grant(c.wanted)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := granted.Reveal(mask.Placeholder(c.text), c.page)
		if (err != nil) != c.forbidden || !c.forbidden && got != "value-of-"+c.text {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	for name, wanted := range map[string]map[string][]string{
		"unknown":              {"NONE": nil},
		"for no common origin": {"BOUND": {"https://b.test"}},
	} {
		if _, err := s.Grant(wanted); !errors.Is(err, fault.PermissionDenied) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSeveralValuesOfOneName(t *testing.T) {
	all := &mask.Set{}
	if err := all.Add("PW", "first value"); err != nil {
		t.Fatal(err)
	}
	own, err := all.With("PW", "second value", "https://example.com")
	if err != nil {
		t.Fatal(err)
	}
	const text = "{{secret:PW}}"
	for _, one := range []struct {
		name, address, want string
		set                 *mask.Set
	}{
		{"of the set", "https://other.test/", "first value", all},
		{"its own", "https://example.com/", "second value", own},
	} {
		if got, err := one.set.Reveal(text, one.address); err != nil || got != one.want {
			t.Errorf("%s: Reveal(%q) is %q, %v; want %q", one.name, text, got, err, one.want)
		}
	}
	if _, err := own.Reveal(text, "https://other.test/"); err == nil {
		t.Error("the second value is revealed outside of its origins")
	}
	if got, want := all.Mask("first value, second value"), text+", "+text; got != want {
		t.Errorf("both values masked are %q, want %q", got, want)
	}
	if got := all.Mask("typed: secon"); got != "typed: secon" {
		t.Errorf("a beginning that was not typed is %q", got)
	}
	own.TypedByKeys("PW")
	if got, want := all.Mask("typed: secon"), "typed: "+text; got != want {
		t.Errorf("a beginning that was typed is %q, want %q", got, want)
	}
}

// TestCutTextsShowNoHalf: a text that was cut inside a secret shows nothing of it, however
// little is left.
func TestCutTextsShowNoHalf(t *testing.T) {
	s := setOf(t, "TOKEN", "tok-0123456789-0123456789-0123456789")
	for text, want := range map[string]string{
		"found tok-01…":     "found {{secret:TOKEN}}…",
		`text is "tok-0…"`:  `text is "{{secret:TOKEN}}…"`,
		"found tok-0123...": "found {{secret:TOKEN}}...",
		"tok…":              "tok…",
	} {
		if got := s.Mask(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	key := setOf(t, "KEY", "-----BEGIN-----\n  c29tZXRoaW5n\nshort\n-----END-----")
	onOneLine := "-----BEGIN----- c29tZXRoaW5n short -----END-----"
	if got := key.Shown(); !slices.Equal(got[1:], []string{
		"-----BEGIN-----", "c29tZXRoaW5n", "-----END-----", onOneLine,
	}) {
		t.Errorf("shown are %q", got)
	}
}

// A page shows a run of white space as one blank, as another character, or escaped.
func TestWhiteSpaceOfASecret(t *testing.T) {
	s := setOf(t, "PW", "correct horse  battery\tstaple ")
	whites := map[string]string{
		"one blank": " ", "two": "  ", "three": "   ", "a line end": "\n", "no-break": "\u00a0", "em space": "\u2003",
		"in an address":     "%20",
		"in a form":         "+",
		"two in an address": "%20%20",
		"in JSON":           `\n`,
		"code in JSON":      `\u00a0`,
		"in HTML":           "&nbsp;", "number in HTML": "&#32;&#160;", "mixed": " \u00a0+%20",
	}
	for name, white := range whites {
		t.Run(name, func(t *testing.T) {
			shown := strings.Join([]string{"correct", "horse", "battery", "staple"}, white)
			for _, around := range []string{"%s", "T:%s", "<%s>", "%s\n"} {
				text := fmt.Sprintf(around, shown)
				want := fmt.Sprintf(around, "{{secret:PW}}")
				if got := strings.TrimRight(s.Mask(text), "\n"); got != strings.TrimRight(want, "\n") {
					t.Errorf("%q became %q, expected %q", text, got, want)
				}
				var b bytes.Buffer
				w := s.Writer(&b)
				for i := range len(text) {
					if _, err := w.Write([]byte(text[i : i+1])); err != nil {
						t.Fatal(err)
					}
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				if strings.Contains(b.String(), "horse") {
					t.Errorf("%q, written byte by byte, became %q", text, b.String())
				}
			}
		})
	}
	for _, other := range []string{
		"correcthorse batterystaple", "correct-horse battery staple", "correct horse battery",
	} {
		if got := s.Mask(other); got != other {
			t.Errorf("%q became %q, expected no change", other, got)
		}
	}
}
