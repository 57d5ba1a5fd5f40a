package controller

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/reconciler/loop"
)

// budgets is the state of the reports about namespaces over their log budget. The loop's goroutine owns it.
type budgets struct {
	looked time.Time
	told   time.Time
	names  []string // names in the last report
}

// BudgetFlag is the name of the flag that sets the budget, for messages.
const BudgetFlag = "log-namespace-budget"

const (
	budgetLook  = time.Second
	budgetTell  = time.Minute // between messages about namespaces over their budgets
	budgetNames = 5           // most namespaces that a report names
)

// showBudgets reports the namespaces over their log budget: their number to metrics, and up to budgetNames names to
// probes. It logs the names when they change, at most once in budgetTell.
func (c *controller) showBudgets(l *loop.Loop) {
	c.metrics.passed.Store(l.PassedOver())
	s, now := &c.budgets, time.Now()
	if now.Sub(s.looked) < budgetLook {
		return
	}
	s.looked = now
	n, names := l.World().OverBudget(c.runner.Clock.Now(), budgetNames)
	c.metrics.over.Store(int64(n))
	c.health.set(func(h *Health) { h.over = overBudget(n, names) })
	if slices.Equal(names, s.names) || now.Sub(s.told) < budgetTell {
		return
	}
	s.names, s.told = names, now
	if n == 0 {
		c.logger.Info("no namespace is over its budget of log any more")
		return
	}
	c.logger.Warn("namespaces fill the log beyond --"+BudgetFlag+": less of their objects is recorded",
		"namespaces", n, "some", strings.Join(names, ","), "budget", l.World().Settings.NamespaceBudget)
}

// overBudget returns the report as a sentence; empty if n is 0.
func overBudget(n int, names []string) string {
	if n == 0 {
		return ""
	}
	more := ""
	if n > len(names) {
		more = fmt.Sprintf(" and %d more", n-len(names))
	}
	return fmt.Sprintf("over --%s, so less of it is recorded: %s%s", BudgetFlag, strings.Join(names, ", "), more)
}
