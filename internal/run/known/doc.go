// Package known returns the objects that a log believes to exist, so that the informer can find what is missing from
// its first listing, and whether the cluster was rewound. It connects packages projector and events/informer, which do
// not know each other.
//
// Read known.go, then [informer.Known].
package known
