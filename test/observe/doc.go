// Package observe proves --manage=observe beside the real built-in Job controller: it reads, records and compares,
// writes nothing, finds no difference where there is none, and finds those that are planted.
package observe
