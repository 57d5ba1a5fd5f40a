// Package open opens a log by its address. It chooses the backend, so that other packages need not know any backend.
//
//	log, err := open.Log("/var/lib/jobledger", store.Options{}) // the same as bolt:/var/lib/jobledger
//
// An address is a directory (package boltlog), or a scheme, a colon and a rest that the backend of the scheme
// interprets. A new backend needs an entry in the map backends.
package open
