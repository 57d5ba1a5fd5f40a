// Package known says what a log believes to exist, so that the informer can tell what is missing from its first
// listing, and whether the cluster went back. It stands between packages projector and events/informer, which do not
// know each other.
//
// Read known.go, then [informer.Known].
package known
