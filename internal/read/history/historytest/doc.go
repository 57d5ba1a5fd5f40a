// Package historytest makes logs with an eventful past, for tests of code that reads a log.
package historytest
