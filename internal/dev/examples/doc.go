// Package examples has one of each kind of facts, with every field set, for tests that must meet all of them.
package examples
