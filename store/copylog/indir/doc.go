// Package indir is the place of a copy in a directory: on another disk, on a mount, wherever files can be made and
// renamed.
//
// An object is written beside its place, synced and then linked there, so it is whole or not there, and none is
// overwritten. MANIFEST is renamed there, under a lock (flock) and after a look at the one that it replaces. Where the
// mount is shared by several machines and its flock does not reach them, two writers at the same moment are told apart
// by the links only: objects are safe, and of two manifests the later one stays.
package indir
