package controller

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/jobledger/jobledger/reconciler/loop"
)

// newRefused is a gauge of what the API server refuses now: other than jobledger_commands_total, which counts tries, it
// goes back to nothing when the cause is gone.
func newRefused() *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "jobledger_commands_refused",
		Help: "Commands that the API server refuses and that are asked again, by kind and the class of the newest refusal.",
	}, []string{"kind", "class"})
}

// showRefused sets the gauge to what the loop says. It is called between turns.
func (m *metrics) showRefused(l *loop.Loop) {
	counts, changed := l.Refused()
	if !changed {
		return
	}
	for kind, n := range counts {
		m.refused.WithLabelValues(kind.Command, kind.Class.String()).Set(float64(n))
	}
}
