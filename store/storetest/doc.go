// Package storetest is the acceptance suite of the [store.Log] contract: what it tests, every backend promises.
//
// A backend's test calls [Run] with a function that makes an empty log and can open it again. [Writer] builds batches
// that keep the contract; other packages use it to fill a log in their own tests.
//
// Read run.go, then the file of the promise in question.
package storetest
