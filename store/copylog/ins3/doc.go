// Package ins3 implements the place of a copy in a bucket of any server with the S3 protocol.
//
// It stores an object with one request, on the condition that none with the name exists (If-None-Match). It replaces
// MANIFEST on the condition that the object is the one that was read (If-Match). On a server without these conditions,
// two writers may overwrite each other.
package ins3
