// Package open opens a log by its address. It chooses the backend, so that no other package needs to know one.
//
//	log, err := open.Log("/var/lib/jobledger", store.Options{}) // the same as bolt:/var/lib/jobledger
//
// An address is a directory (store/boltlog), or a scheme, a colon and a rest that the backend interprets. To add a
// backend, add a line to backends.
package open
