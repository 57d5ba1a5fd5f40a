// Package oldlog writes logs of months ago, for tests of what becomes of old records.
package oldlog
