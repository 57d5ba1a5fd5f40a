// Package ins3 is the place of a copy in a bucket, of any server that speaks S3.
//
// An object is put with one request, and only if there is none of its name (If-None-Match). MANIFEST is replaced only
// if it is the one that was read (If-Match). A server that does not know these conditions fences nobody: two writers
// may overwrite each other there.
package ins3
