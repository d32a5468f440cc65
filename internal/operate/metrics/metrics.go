// Package metrics answers how many calls a process serves, how long they take
// and what it owns, in the text format of Prometheus. It does not listen, reads
// no page, and puts nothing a page or a caller wrote into a label. The command
// makes one for each process and passes it what it observes.
package metrics

import (
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Others is the label of a name that is not known beforehand. A caller chooses
// names, and each one would be a series of its own.
const Others = "site_action"

// otherCode is the label of a code that another program made up.
const otherCode = "other"

// Metrics are those of one process.
type Metrics struct {
	registry *prometheus.Registry
	names    map[string]bool
	codes    map[string]bool

	calls    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
	events   *prometheus.CounterVec

	mu   sync.Mutex
	tabs map[string]bool // by runtime id
}

// New makes the metrics of a process. names are the calls that get a label of
// their own.
func New(version string, names []string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		names:    map[string]bool{},
		codes:    map[string]bool{},
		tabs:     map[string]bool{},
	}
	for _, n := range names {
		m.names[n] = true
	}
	for _, spec := range fault.All() {
		m.codes[string(spec.Code)] = true
	}
	m.calls = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "outrider_calls_total",
		Help: "Calls that were answered, by name and by error code; the code of success is ok.",
	}, []string{"name", "code"})
	m.duration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "outrider_call_duration_seconds", Help: "Time from accepting a call to its answer.",
		Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
	}, []string{"name"})
	m.inFlight = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "outrider_calls_in_flight",
		Help: "Calls that were accepted and are not answered.",
	})
	m.events = prometheus.NewCounterVec(
		prometheus.CounterOpts{Name: "outrider_events_total", Help: "Events of tabs, by kind."}, []string{"kind"},
	)
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "outrider_info",
		Help:        "Always 1; the version is a label.",
		ConstLabels: prometheus.Labels{"version": version},
	})
	info.Set(1)
	m.registry.MustRegister(m.calls, m.duration, m.inFlight, info,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler answers with all metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Gauge adds a value that is read at each scrape. read may be called from
// several goroutines.
func (m *Metrics) Gauge(name, help string, read func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
}

// Counter adds a count of what happens, by one label whose values the program
// knows.
func (m *Metrics) Counter(name, help, label string) (add func(value string)) {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	m.registry.MustRegister(c)
	return func(value string) { c.WithLabelValues(value).Inc() }
}

// Call counts a call that was accepted. What it returns is called once, with the
// code of the failure, "" for none.
func (m *Metrics) Call(name string) (answered func(code fault.Code)) {
	began := time.Now()
	if !m.names[name] {
		name = Others
	}
	m.inFlight.Inc()
	return func(code fault.Code) {
		label := string(code)
		switch {
		case code == "":
			label = "ok"
		case !m.codes[label]:
			label = otherCode
		}
		m.calls.WithLabelValues(name, label).Inc()
		m.duration.WithLabelValues(name).Observe(time.Since(began).Seconds())
		m.inFlight.Dec()
	}
}

// Host is the part of runtime.Host that is observed.
type Host interface {
	Tabs() []runtime.TabStatus
	Subscribe(fn func(runtime.Event)) (unsubscribe func())
}

// Watch counts the events and tabs of the process's host until stop. It may be
// called once.
func (m *Metrics) Watch(h Host) (stop func()) {
	m.Gauge("outrider_tabs", "Tabs that are open.", func() float64 {
		m.mu.Lock()
		defer m.mu.Unlock()
		return float64(len(m.tabs))
	})
	m.registry.MustRegister(m.events)
	// An event that comes meanwhile waits: it is newer than the list.
	m.mu.Lock()
	defer m.mu.Unlock()
	stop = h.Subscribe(m.event)
	for _, tab := range h.Tabs() {
		m.tabs[tab.RuntimeID] = true
	}
	return stop
}

func (m *Metrics) event(ev runtime.Event) {
	m.events.WithLabelValues(string(ev.Kind)).Inc()
	m.mu.Lock()
	defer m.mu.Unlock()
	switch ev.Kind {
	case runtime.TabReady:
		m.tabs[ev.Tab.RuntimeID] = true
	case runtime.TabRemoved:
		delete(m.tabs, ev.Tab.RuntimeID)
	}
}
