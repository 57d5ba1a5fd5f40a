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
)

// newRefused is a gauge of what the API server refuses now: other than jobledger_commands_total, which counts tries, it
// goes back to nothing when the cause is gone.
func newRefused() *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "jobledger_commands_refused",
		Help: "Commands that the API server refuses and that are asked again, by kind and the class of the newest refusal.",
	}, []string{"kind", "class"})
}

// showRefused sets the gauge, and what the probes say of gangs, to what the loop says. It is called between turns.
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

// gangsRefused says how many Jobs wait as the API server refuses what their Workload and PodGroup need; empty for none.
// Each has one such command at a time.
func gangsRefused(counts map[loop.RefusedKind]int) string {
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

// commandOf are the traits of commands by their names.
var commandOf = func() map[string]*events.Traits {
	all := map[string]*events.Traits{}
	for t := range events.AllTraits() {
		all[t.Name] = t
	}
	return all
}()
