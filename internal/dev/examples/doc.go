// Package examples has one value of each kind of facts, for tests that must cover all kinds.
package examples
