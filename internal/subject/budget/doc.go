// Package budget tracks how much log each namespace writes:
//
//	b := budget.New()
//	b.Apply(record, "prod", settings.NamespaceBudget)
//	over := b.Left("prod", now, settings.NamespaceBudget) > settings.NamespaceBudget
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
package budget
