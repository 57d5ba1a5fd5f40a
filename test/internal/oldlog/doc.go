// Package oldlog writes logs with months of records, for tests of what happens to old records.
package oldlog
