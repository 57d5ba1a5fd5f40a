// Package whentest has instants, marks, due times and small logs for the tests of the rooms of answers. All instants
// count from one beginning: Sec(5) is 5 s behind it, Seen(3, 5) is record 3 of that instant.
package whentest
