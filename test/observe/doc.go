// Package observe tests --manage=observe beside the real built-in Job controller: it reads, records and compares, and
// writes nothing. It finds no false difference, and finds those that the test plants.
package observe
