// Package historytest makes logs in which much has happened, and logs whose reads fail, for tests of code that reads a
// log.
package historytest
