// Package open is the one door to a log: it finds the backend by the log's address.
//
// An address is a directory (store/boltlog), or a scheme, a colon and what the backend makes of the rest: bolt:DIR is the same
// directory. A further backend is a line in backends.
package open
