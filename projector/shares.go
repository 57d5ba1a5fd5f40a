package projector

import "github.com/jobledger/jobledger/events"

// Share returns how many bytes of log the namespace has used lately, in a leaky bucket that drains at the rate of the
// budget. Above Settings.NamespaceBudget the namespace is over its budget.
func (w *World) Share(namespace string, now events.Time) int64 {
	return w.budgets.Left(namespace, now, w.Settings.NamespaceBudget)
}

// OverBudget returns the number of namespaces over budget, and the names of the first ones in alphabetical order, at
// most most names.
func (w *World) OverBudget(now events.Time, most int) (n int, names []string) {
	if w.Settings.NamespaceBudget == 0 {
		return 0, nil
	}
	names = w.budgets.Over(now, w.Settings.NamespaceBudget)
	return len(names), names[:min(most, len(names))]
}
