package controller

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/reconciler/loop"
)

// budgets is what showBudgets knows from its last call about namespaces that filled more of the log in an hour than
// their budget allows. Only the loop's goroutine uses it.
type budgets struct {
	looked time.Time
	told   time.Time
	names  []string // namespaces named in the last message
}

// BudgetFlag is the name of the flag that sets how much log a namespace may fill in an hour. Messages name the flag.
const BudgetFlag = "log-namespace-budget"

const (
	budgetLook  = time.Second
	budgetTell  = time.Minute // shortest time between messages about namespaces over their budgets
	budgetNames = 5           // most namespaces that a message names
)

// showBudgets reports the namespaces that fill more of the log than their budget allows. Metrics get their number;
// probes get up to 5 names. The program's log gets the names when they change, at most once a minute.
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

// overBudget returns a sentence for probes about the n namespaces over their budget; empty if n is 0.
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
