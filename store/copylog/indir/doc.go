// Package indir implements the place of a copy in a directory: on another disk, on a mount, or wherever files can be
// created and renamed.
//
// It writes an object to a temporary file, syncs it and links it to its name. So an object is whole or absent, and
// never overwritten. It replaces MANIFEST by a rename, with a lock (flock), after a check of the current one. If
// several machines share the mount and flock does not work between them, objects are still safe because of the links;
// but of two manifests written at the same moment, the later one stays.
package indir
