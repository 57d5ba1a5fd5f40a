// Package ins3 stores a copy of a log in a bucket of any server with the S3 protocol. It implements copylog.Place.
//
// It stores an object with one request, on the condition that no object has the name (If-None-Match). It replaces
// MANIFEST on the condition that the current version is the one that was read (If-Match). If a server does not support
// these conditions, two writers may overwrite each other's objects.
package ins3
