package providerkit_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/conformance/providerkit"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/internal/testing/providertest"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
)

func TestMain(m *testing.M) {
	expr.MaybeWorker()
	browsertest.Main(m)
}

// serve runs our own provider over a real browser and gives connections to it.
func serve(t *testing.T) (connect func() (in io.Reader, out io.WriteCloser)) {
	t.Helper()
	server := providertest.New(t, runtimetest.Open(t, runtime.Options{}), nil)
	return func() (io.Reader, io.WriteCloser) {
		c := providertest.Connect(t, server)
		return c.In, c.Out
	}
}

func TestOurProviderIsCertified(t *testing.T) {
	in, out := serve(t)()
	report, err := providerkit.Run(t.Context(), in, out, providerkit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Results {
		t.Logf("%-8s %-16s %5d ms %s", r.Outcome, r.ID, r.Millis, strings.Join(r.Reasons, "; "))
	}
	if report.Tier != providerkit.Certified || report.Provider != "outrider" {
		t.Errorf(
			"the provider %q is %s, want certified: %s",
			report.Provider, report.Tier, strings.Join(report.Reasons, "\n"),
		)
	}
	if report.Claimed != string(providerkit.Certified) {
		t.Errorf("the provider claims %q", report.Claimed)
	}
}

type object = map[string]any

// fault is one way to be broken. request and answer see what passes by; they
// change it or, with drop, keep it back; extra is written after the answer.
type fault struct {
	name string
	// scenario must fail, with a reason that has says.
	scenario, says string
	tier           providerkit.Tier
	request        func(method string, params object) (answerAtOnce object)
	answer         func(method string, a object) (extra object)
	line           func(line string) (drop bool)
	limit          time.Duration // of a call, where one is not answered; 0 for a minute
}

// result is the result member of an answer, an empty object where there is none.
func result(a object) object {
	if r, ok := a["result"].(object); ok {
		return r
	}
	return object{}
}

func answered(result object) object {
	return object{"protocol_version": "0.1", "ok": true, "result": result, "warnings": []any{}}
}

var sessionsMade int

var faults = []fault{
	{
		name:     "a new session each time",
		scenario: "session",
		says:     "the same client_session_id was given another session_id",
		tier:     providerkit.Experimental,
		request: func(method string, params object) object {
			if id, ok := params["client_session_id"].(string); ok && method == "session.ensure" {
				sessionsMade++
				params["client_session_id"] = id + strings.Repeat("'", sessionsMade)
			}
			return nil
		},
	},
	{
		name:     "numbers as ids",
		scenario: "open",
		says:     "no page_id that is a non-empty string",
		tier:     providerkit.Experimental,
		answer: func(method string, a object) object {
			if r := result(a); method == "page.open" && r["page_id"] != nil {
				r["page_id"] = 7
			}
			return nil
		},
	},
	{name: "answers twice", scenario: "one-answer", says: "answered more than once", tier: providerkit.Compatible,
		answer: func(method string, a object) object {
			if method == "provider.status" {
				return a
			}
			return nil
		}},
	{
		name:     "clicks nothing and says it did",
		scenario: "click",
		says:     "the page did not see it",
		tier:     providerkit.Experimental,
		request: func(method string, params object) object {
			if method == "page.click" && params["element_ref"] != nil {
				return answered(object{"page_id": "p", "clicked": true})
			}
			return nil
		},
	},
	{
		name:     "replace is not honoured",
		scenario: "type",
		says:     "did not leave the new text alone",
		tier:     providerkit.Experimental,
		request: func(method string, params object) object {
			if method == "page.type" {
				delete(params, "replace")
			}
			return nil
		},
	},
	{
		name:     "waits are always satisfied",
		scenario: "wait",
		says:     "satisfied by text that is not there",
		tier:     providerkit.Compatible,
		request: func(method string, _ object) object {
			if method == "page.wait" {
				return answered(object{"satisfied": true})
			}
			return nil
		},
	},
	{
		name:     "pictures of another size than said",
		scenario: "screenshot",
		says:     "width and height are",
		tier:     providerkit.Compatible,
		answer: func(method string, a object) object {
			if r := result(a); method == "page.screenshot" && r["width"] != nil {
				r["width"] = 1
			}
			return nil
		},
	},
	{
		name:     "children that are not there",
		scenario: "snapshot",
		says:     "lists a child that is not there",
		tier:     providerkit.Experimental,
		answer: func(method string, a object) object {
			if tree, ok := result(a)["snapshot"].(object); ok && method == "page.snapshot" {
				root := tree["root"].(object)
				root["children"] = append(root["children"].([]any), "n-nowhere")
			}
			return nil
		},
	},
	{
		name:     "unknown methods succeed",
		scenario: "unknown-method",
		says:     "succeeded, want unsupported_method",
		tier:     providerkit.Compatible,
		answer: func(_ string, a object) object {
			if e, ok := a["error"].(object); ok && e["code"] == "unsupported_method" {
				delete(a, "error")
				a["ok"], a["result"] = true, object{}
			}
			return nil
		},
	},
	{
		name:     "closed sessions live on",
		scenario: "close",
		says:     "succeeded, want session_not_found",
		tier:     providerkit.Compatible,
		request: func(method string, _ object) object {
			if method == "session.close" {
				return answered(object{"closed": true})
			}
			return nil
		},
	},
	{
		name:     "ready and yet to be set up",
		scenario: "status",
		says:     "availability is ready while",
		tier:     providerkit.Experimental,
		answer: func(method string, a object) object {
			if r := result(a); method == "provider.status" {
				r["setup_state"], r["requires_manual_setup"] = "required", true
			}
			return nil
		},
	},
	{
		name:     "claims what it does not have",
		scenario: "claims",
		says:     "is claimed and answers unsupported_method",
		tier:     providerkit.Compatible,
		answer: func(method string, a object) object {
			if c, ok := result(a)["capabilities"].(object); ok && method == "provider.describe" {
				c["optional_methods"] = append(c["optional_methods"].([]any), "page.teleport")
			}
			return nil
		},
	},
	{name: "another version", scenario: "describe", says: "protocol_version", tier: providerkit.None,
		answer: func(_ string, a object) object {
			a["protocol_version"] = "0.2"
			return nil
		}},
	{
		name:     "silent about lines that are no request",
		scenario: "malformed",
		says:     "got no answer",
		tier:     providerkit.Compatible,
		limit:    10 * time.Second,
		line:     func(line string) bool { return !json.Valid([]byte(line)) },
	},
	{
		name:     "cookies for everybody",
		scenario: "isolation",
		says:     "has the cookies of another",
		tier:     providerkit.Compatible,
		request: func(method string, params object) object {
			if method == "session.ensure" {
				params["isolation"] = "shared"
			}
			return nil
		},
	},
	{
		name:     "another error for everything",
		scenario: "click-refused",
		says:     "want element_not_found",
		tier:     providerkit.Compatible,
		answer: func(method string, a object) object {
			if e, ok := a["error"].(object); ok && method == "page.click" {
				e["code"] = "internal_error"
			}
			return nil
		},
	},
}

// breakIt stands between the suite and a working provider and breaks what
// passes.
func breakIt(t *testing.T, f fault, in io.Reader, out io.WriteCloser) (io.Reader, io.WriteCloser) {
	toFilter, suiteOut := io.Pipe()
	suiteIn, fromFilter := io.Pipe()
	methods := map[string]string{}
	lines := make(chan func(), 64) // one goroutine changes everything: no lock
	done := make(chan struct{}, 3)
	write := func(w io.Writer, v any) {
		b, err := json.Marshal(v)
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = w.Write(append(b, '\n'))
	}
	go func() {
		for act := range lines {
			act()
		}
		_ = fromFilter.Close()
		done <- struct{}{}
	}()
	each := func(r io.Reader, take func(line string)) {
		reader := bufio.NewReader(r)
		for {
			line, err := reader.ReadString('\n')
			if strings.TrimSpace(line) != "" {
				lines <- func() { take(strings.TrimSpace(line)) }
			}
			if err != nil {
				break
			}
		}
		done <- struct{}{}
	}
	go each(toFilter, func(line string) {
		if f.line != nil && f.line(line) {
			return
		}
		var req object
		if json.Unmarshal([]byte(line), &req) != nil || req["id"] == nil {
			_, _ = io.WriteString(out, line+"\n")
			return
		}
		method, _ := req["method"].(string)
		methods[req["id"].(string)] = method
		if params, ok := req["params"].(object); ok && f.request != nil {
			if a := f.request(method, params); a != nil {
				a["id"] = req["id"]
				write(fromFilter, a)
				return
			}
		}
		write(out, req)
	})
	go each(in, func(line string) {
		var a object
		if json.Unmarshal([]byte(line), &a) != nil {
			return
		}
		id, _ := a["id"].(string)
		var extra object
		if f.answer != nil {
			extra = f.answer(methods[id], a)
		}
		write(fromFilter, a)
		if extra != nil {
			write(fromFilter, extra)
		}
	})
	t.Cleanup(func() {
		_ = suiteOut.Close()
		_ = suiteIn.Close()
		_ = out.Close()
		<-done
		<-done
		close(lines)
		<-done
	})
	return suiteIn, suiteOut
}

func TestBrokenProvidersFailForTheRightReason(t *testing.T) {
	connect := serve(t)
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			in, out := connect()
			in, out = breakIt(t, f, in, out)
			report, err := providerkit.Run(t.Context(), in, out, providerkit.Options{
				Only:        []string{f.scenario},
				CallLimit:   cmp.Or(f.limit, time.Minute),
				EffectLimit: 5 * time.Second,
			})
			if err != nil {
				t.Fatal(err)
			}
			if report.Tier != f.tier {
				t.Errorf("the tier is %s, want %s: %q", report.Tier, f.tier, report.Reasons)
			}
			if !slices.ContainsFunc(report.Reasons, func(r string) bool { return strings.Contains(r, f.says) }) {
				t.Errorf("reasons are %q, want one that says %q", report.Reasons, f.says)
			}
			for _, r := range report.Results {
				if r.ID == f.scenario && r.Outcome != providerkit.Failed {
					t.Errorf("scenario %s %s", r.ID, r.Outcome)
				}
			}
		})
	}
}

// A provider that says nothing, or ends, is no provider.
func TestNobodyToTalkTo(t *testing.T) {
	in, fromNobody := io.Pipe()
	_ = fromNobody.Close()
	report, err := providerkit.Run(t.Context(), in, io.Discard, providerkit.Options{CallLimit: time.Second})
	if err != nil || report.Tier != providerkit.None || len(report.Reasons) == 0 {
		t.Errorf("got tier %s, reasons %q, error %v", report.Tier, report.Reasons, err)
	}
}

// The list in docs/reference/provider-conformance.md is the list of the code.
func TestScenariosAreDocumented(t *testing.T) {
	const name = "docs/reference/provider-conformance.md"
	page, err := os.ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	_, list, ok := strings.Cut(string(page), "## Scenarios\n")
	if !ok {
		t.Fatal(name + " has no list of scenarios")
	}
	var want strings.Builder
	for _, s := range providerkit.Scenarios() {
		needed := "required"
		if s.Claim != "" {
			needed = "if `" + s.Claim + "`"
		} else if s.Essential {
			needed = "essential"
		}
		want.WriteString("- `" + s.ID + "` (" + needed + "): " + s.Title + " ")
	}
	if got, want := strings.Join(strings.Fields(list), " "), strings.Join(
		strings.Fields(want.String()), " ",
	); got != want {
		t.Errorf("%s lists\n%s\nwant\n%s", name, got, want)
	}
}
