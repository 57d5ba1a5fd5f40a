package controller

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/reconciler/retries"
)

// newRefused returns a gauge of the commands that the API server refuses at the moment. The gauge returns to 0 when the
// server accepts them. The metric jobledger_commands_total counts all refused tries instead.
func newRefused() *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "jobledger_commands_refused",
		Help: "Commands that the API server refuses and that are asked again, by kind and the class of the newest refusal.",
	}, []string{"kind", "class"})
}

// showRefused sets the gauge of refused commands, and the text of the probes about Jobs that wait for their Workload or
// PodGroup. The loop calls it between turns.
func (m *metrics) showRefused(l *loop.Loop, h *Health) {
	counts, changed := l.Refused()
	if !changed {
		return
	}
	gangs := gangsRefused(counts)
	h.set(func(h *Health) { h.gangs = gangs })
	for kind, n := range counts {
		m.refused.WithLabelValues(kind.Command, kind.Class.String()).Set(float64(n))
	}
}

// gangsRefused returns a sentence for probes: how many Jobs wait because the API server refuses their Workload or
// PodGroup; empty for none. Each Job has at most one such command at a time.
func gangsRefused(counts map[retries.RefusedKind]int) string {
	waiting, by := 0, map[string]int{}
	for kind, n := range counts {
		if k := commandOf[kind.Command]; k != nil && k.Slot == events.SlotGroup && n > 0 {
			waiting += n
			by[kind.Class.String()] += n
		}
	}
	if waiting == 0 {
		return ""
	}
	var why []string
	for _, class := range slices.Sorted(maps.Keys(by)) {
		why = append(why, fmt.Sprintf("%s: %d", cmp.Or(class, "unknown"), by[class]))
	}
	return fmt.Sprintf("Jobs that wait for their Workload or PodGroup: %d (%s); the Events of each have the API server's words",
		waiting, strings.Join(why, ", "))
}

// commandOf maps the name of each kind of command to its properties.
var commandOf = func() map[string]*events.Traits {
	all := map[string]*events.Traits{}
	for t := range events.AllTraits() {
		all[t.Name] = t
	}
	return all
}()
