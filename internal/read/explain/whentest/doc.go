// Package whentest has instants, marks, due times and small logs for tests of the packages below explain. All instants
// count from one beginning: Sec(5) is 5 s after it, Seen(3, 5) is record 3 at that instant.
package whentest
