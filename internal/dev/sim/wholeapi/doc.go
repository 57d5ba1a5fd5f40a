// Package wholeapi is the executor's API over a server that takes and gives whole objects, such as the fake one of
// package apiserver and those of tests. What the executor sends is decoded, and what the server answers is read, as
// between a client and a real server.
package wholeapi
