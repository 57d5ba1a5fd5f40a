// Package known returns the objects that should exist according to a log. The informer compares them with its first
// listing: it finds which objects are missing, and whether the cluster was restored to an earlier state. The package
// connects projector and events/observation, which do not import each other.
//
// Read known.go, then [observation.Known].
package known
