package projector

import "github.com/jobledger/jobledger/events"

// Share returns the bytes in the namespace's bucket. Above Settings.NamespaceBudget the namespace is over its budget.
func (w *World) Share(namespace string, now events.Time) int64 {
	return w.budgets.Left(namespace, now, w.Settings.NamespaceBudget)
}

// OverBudget returns the number of namespaces over budget, and the first names in alphabetical order, at most most of
// them.
func (w *World) OverBudget(now events.Time, most int) (n int, names []string) {
	if w.Settings.NamespaceBudget == 0 {
		return 0, nil
	}
	names = w.budgets.Over(now, w.Settings.NamespaceBudget)
	return len(names), names[:min(most, len(names))]
}
