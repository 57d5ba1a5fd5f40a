// Package notation parses the words with which scripts describe a Job and its pods: "parallelism=3 indexed perIndex=1",
// "Failed index=2 exit=main:42". Each function takes one word and reports whether it knows the word, so a script can
// have words of its own. Times are relative to the script's now: "finished=-3s".
package notation
