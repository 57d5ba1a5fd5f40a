// Package oldlog writes logs with records of several months, for tests of what happens to old records.
package oldlog
