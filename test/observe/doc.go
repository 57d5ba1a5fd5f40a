// Package observe tests --manage=observe beside the real built-in Job controller. Jobledger must read, record and
// compare, and write nothing. It must report the differences that the test causes, and no others.
package observe
