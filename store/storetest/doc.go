// Package storetest is the acceptance suite of the [store.Log] contract. Every backend must pass it.
//
// A backend's test calls [Run] with a function that creates an empty log and can reopen it. [Writer] builds valid
// batches; other packages use it to fill a log in their own tests.
//
// Read run.go first.
package storetest
