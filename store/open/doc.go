// Package open is the one door to a log: it finds the backend by the log's address.
//
// An address is a directory (store/boltlog), or a scheme, a colon and a rest that the backend reads: bolt:DIR is the
// same as DIR. A further backend is a line in backends.
package open
