// Package indir stores a copy of a log in a directory: on another disk, on a mount, or wherever files can be created
// and renamed. It implements copylog.Place.
//
// It writes an object to a temporary file, syncs the file, and links it to its name. So an object is either complete or
// absent, and is never overwritten. To replace MANIFEST, it takes a lock (flock), checks the current version, and
// renames the new file. If several machines share the mount and flock does not work between them, objects are still
// safe because of the links. But if two manifests are written at the same moment, only the later one remains.
package indir
