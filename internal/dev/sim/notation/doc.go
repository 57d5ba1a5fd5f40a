// Package notation reads the words in which scripts say what a Job and its pods look like: "parallelism=3 indexed
// perIndex=1", "Failed index=2 exit=main:42". Each function takes one word and reports whether it is one of its own, so
// that a script can have words beside them. Times are relative to the script's now: "finished=-3s".
package notation
