package metrics_test

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/internal/operate/metrics"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

func scrape(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("the answer has the status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func shows(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf(
				"there is no line %q in\n%s",
				line, regexp.MustCompile(`(?m)^(?:#|go_|process_).*\n`).ReplaceAllString(text, ""),
			)
		}
	}
}

func TestCalls(t *testing.T) {
	m := metrics.New("1.2.3", []string{"page.info"})
	m.Call("page.info")("")
	m.Call("page.info")(fault.Timeout)
	open := m.Call("page.info")
	shows(t, scrape(t, m),
		`outrider_info{version="1.2.3"} 1`,
		`outrider_calls_total{code="ok",name="page.info"} 1`,
		`outrider_calls_total{code="timeout",name="page.info"} 1`,
		`outrider_call_duration_seconds_count{name="page.info"} 2`,
		`outrider_calls_in_flight 1`)
	open("")
	shows(t, scrape(t, m), `outrider_calls_in_flight 0`, `outrider_calls_total{code="ok",name="page.info"} 2`)
}

// Names and codes that others choose make no series of their own.
func TestLabelsAreBounded(t *testing.T) {
	m := metrics.New("1", []string{"page.info"})
	for _, name := range []string{"shop.buy", "x\"} 1\ninjected 7", strings.Repeat("n", 1<<16)} {
		m.Call(name)("")
		m.Call("page.info")(fault.Code(name))
	}
	text := scrape(t, m)
	shows(
		t, text, `outrider_calls_total{code="ok",name="site_action"} 3`,
		`outrider_calls_total{code="other",name="page.info"} 3`,
	)
	if strings.Contains(text, "injected") || strings.Contains(text, "shop.buy") {
		t.Error("a label has what a caller wrote")
	}
}

type host struct {
	tabs []runtime.TabStatus
	fn   func(runtime.Event)
}

func (h *host) Tabs() []runtime.TabStatus { return h.tabs }
func (h *host) Subscribe(fn func(runtime.Event)) func() {
	h.fn = fn
	return func() { h.fn = nil }
}

func TestTabs(t *testing.T) {
	h := &host{tabs: []runtime.TabStatus{{RuntimeID: "a"}}}
	m := metrics.New("1", nil)
	stop := m.Watch(h)
	shows(t, scrape(t, m), `outrider_tabs 1`)
	h.fn(runtime.Event{Kind: runtime.TabReady, Tab: runtime.TabStatus{RuntimeID: "b"}})
	h.fn(runtime.Event{Kind: runtime.TabReady, Tab: runtime.TabStatus{RuntimeID: "b"}}) // its browser was started again
	shows(t, scrape(t, m), `outrider_tabs 2`, `outrider_events_total{kind="tab_ready"} 2`)
	h.fn(runtime.Event{Kind: runtime.TabRemoved, Tab: runtime.TabStatus{RuntimeID: "a"}})
	shows(t, scrape(t, m), `outrider_tabs 1`)
	if stop(); h.fn != nil {
		t.Error("it is still subscribed")
	}
}

func TestOwnGaugesAndCounters(t *testing.T) {
	m := metrics.New("1", nil)
	m.Gauge("outrider_hub_runtimes", "Runtimes.", func() float64 { return 3 })
	add := m.Counter("outrider_hub_runtime_changes_total", "Changes.", "kind")
	add("connected")
	shows(t, scrape(t, m), `outrider_hub_runtimes 3`, `outrider_hub_runtime_changes_total{kind="connected"} 1`)
}
