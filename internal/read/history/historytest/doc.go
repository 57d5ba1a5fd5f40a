// Package historytest makes logs with an eventful past, for tests of what reads a log.
package historytest
