package serve

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are what /metrics shows, in a registry of their own: two Servers in a program, or
// one beside the program's own metrics, do not meet. Labels are routes, not paths, and names
// of models that are there, so that no client makes a series. Names follow Prometheus: base
// units, _total for what only grows.
type metrics struct {
	registry *prometheus.Registry
	show     http.Handler
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	examples *prometheus.CounterVec
	batches  *prometheus.HistogramVec
	reloads  *prometheus.CounterVec
	info     *prometheus.GaugeVec
}

// newMetrics makes the series. Times go from 0.5 ms to 8 s by factors of 2, batches from 1
// to 128 examples.
func newMetrics() *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "treeloss_" + name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64, label string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "treeloss_" + name, Help: help, Buckets: buckets}, []string{label})
	}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: counter("requests_total", "Requests by route and status.", "route", "code"),
		seconds:  histogram("request_seconds", "Time from the header of a request to its answer.", prometheus.ExponentialBuckets(0.0005, 2, 15), "route"),
		examples: counter("examples_total", "Examples answered by each model.", "model"),
		batches:  histogram("batch_examples", "Examples that went through a model together.", prometheus.ExponentialBuckets(1, 2, 8), "model"),
		reloads:  counter("model_reloads_total", "Models opened, by how that ended: done or failed.", "model", "result"),
		info:     prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "treeloss_model_info", Help: "1 for the version of each model that answers."}, []string{"model", "version"}),
	}
	m.registry.MustRegister(m.requests, m.seconds, m.examples, m.batches, m.reloads, m.info,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.show = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
	return m
}

// watch shows how many examples wait for each model.
func (m *metrics) watch(models []*model) {
	for _, waits := range models {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "treeloss_queue_examples", Help: "Examples that wait for a model or are in it.",
			ConstLabels: prometheus.Labels{"model": waits.Name}}, func() float64 { return float64(waits.current.Load().queue.waiting.Load()) }))
	}
}

// request counts an answer.
func (m *metrics) request(route string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}

// showMetrics answers GET /metrics.
func (s *Server) showMetrics(x *exchange) error {
	s.metrics.show.ServeHTTP(x, x.request)
	return nil
}
