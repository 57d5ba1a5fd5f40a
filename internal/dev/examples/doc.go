// Package examples has an example of each kind of facts, the part of a record that decisions read. Tests that must
// cover all kinds of records use it.
package examples
