package browserbridge_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/bridgeclient/browserbridge"
)

func TestBlocklist(t *testing.T) {
	for _, c := range []struct {
		entry, address string
		want           bool
	}{
		{"example.com", "https://example.com/a", true},
		{"example.com", "http://sub.Example.COM:8080/", true},
		{"example.com", "https://notexample.com/", false},
		{"mail.example.com", "https://example.com/", false},
		{"www.example.com", "https://example.com/", true},
		{"*.example.com", "https://a.example.com/", true},
		{"https://Example.com:443/path", "https://example.com/", true},
		{"bücher.example", "https://xn--bcher-kva.example/", true},
		{"xn--bcher-kva.example", "https://bücher.example/", true},
		{"10.0.0.1", "http://10.0.0.1:9/", true},
		{"0.0.1", "http://10.0.0.1/", false},
		{"::1", "http://[::1]:80/", true},
		{"example.com", "about:blank", false},
		{"example.com", "file:///example.com", false},
		{"", "https://example.com/", false},
		{"example.com.", "https://example.com./", true},
	} {
		if got := browserbridge.Blocks([]string{c.entry}, c.address); got != c.want {
			t.Errorf("%q blocks %q: got %t, want %t", c.entry, c.address, got, c.want)
		}
	}
	for address, want := range map[string]string{
		"https://A.example:8443/x": "a.example",
		"about:blank":              "",
		"chrome://version":         "",
		"http://[::1]/":            "::1",
	} {
		if got := browserbridge.DomainOf(address); got != want {
			t.Errorf("domain of %q: got %q, want %q", address, got, want)
		}
	}
}

// Each limit is two seconds below that of the backend's pool.
func TestLimits(t *testing.T) {
	for action, want := range map[string]time.Duration{
		`{"type":"navigate","url":"x"}`:                        33 * time.Second,
		`{"type":"open_tab","url":"x"}`:                        33 * time.Second,
		`{"type":"extract"}`:                                   28 * time.Second,
		`{"type":"screenshot"}`:                                28 * time.Second,
		`{"type":"wait_for","selector":"a"}`:                   13 * time.Second,
		`{"type":"wait_for","selector":"a","timeoutMs":60000}`: 63 * time.Second,
		`{"type":"evaluate","expression":""}`:                  13 * time.Second,
		`{"type":"click","uid":"e0"}`:                          13 * time.Second,
	} {
		if got := browserbridge.Limit(json.RawMessage(action)); got != want {
			t.Errorf("%s: got %s, want %s", action, got, want)
		}
	}
}

func TestChallengeFrames(t *testing.T) {
	for src, want := range map[string]bool{
		"https://challenges.cloudflare.com/cdn-cgi/challenge-platform/h/b/turnstile": true,
		"https://newassets.hcaptcha.com/captcha/v1/x#frame=challenge":                true,
		"https://newassets.hcaptcha.com/c#frame=checkbox&size=invisible":             false,
		"https://www.google.com/recaptcha/api2/anchor?size=normal":                   true,
		"https://www.google.com/recaptcha/api2/anchor?k=1&size=invisible":            false,
		"https://www.google.com/recaptcha/api2/bframe?k=1":                           true,
		"https://www.recaptcha.net/recaptcha/enterprise/anchor?size=compact":         true,
		"https://www.google.com/maps/embed":                                          false,
		"https://evil.example/recaptcha/api2/bframe":                                 false,
	} {
		if got := browserbridge.ChallengeFrame(src); got != want {
			t.Errorf("%s: got %t, want %t", src, got, want)
		}
	}
}

func TestElementsOfEveryRole(t *testing.T) {
	roles := strings.Fields("button link textbox searchbox combobox listbox option checkbox radio switch slider " +
		"spinbutton menuitem menuitemcheckbox menuitemradio tab treeitem")
	var rows []string
	for _, r := range roles {
		rows = append(rows, `{"ref":"e1","role":"`+r+`"}`)
	}
	rows = append(
		rows, `{"ref":"e1","role":"heading","name":"no"}`, `{"ref":"e1","role":"generic"}`,
		`{"ref":"e1","role":"generic","name":"named"}`, `{"role":"option","name":"no ref"}`,
		`{"ref":"e1","role":"textbox","type":"password","value":"***"}`,
		`{"ref":"e1","role":"checkbox","checked":"mixed"}`, `{"ref":"e1","role":"radio","checked":false}`,
	)
	got, err := browserbridge.ListElements("[" + strings.Join(rows, ",") + "]")
	if err != nil || len(got) != len(roles)+4 {
		t.Fatalf("got %d elements (%v), want %d", len(got), err, len(roles)+4)
	}
	for i, r := range roles {
		if got[i].Role != r || got[i].UID != "e"+rune0(i) {
			t.Errorf("element %d is %+v, want role %s", i, got[i], r)
		}
	}
	rest := got[len(roles):]
	if rest[0].Name != "named" || rest[1].Value != "" || rest[2].Value != "mixed" || rest[3].Value != "false" {
		t.Errorf("the last elements are %+v", rest)
	}
}

func rune0(i int) string {
	b, _ := json.Marshal(i)
	return string(b)
}

// A tab whose page was lost and came back is another one: its session ended.
func TestALostPageDetaches(t *testing.T) {
	sent := browserbridge.Reattach(&noHost{})
	if len(sent) != 2 || !strings.Contains(sent[1], `"reason":"debugger_detached"`) ||
		!strings.Contains(sent[1], `"actionCount":1`) {
		t.Errorf("sent %q, want session_started and session_ended debugger_detached", sent)
	}
}
