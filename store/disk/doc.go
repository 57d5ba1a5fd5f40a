// Package disk has what a log needs from a file system beyond reading and writing: names and whole files that survive a
// power cut, blocks that are allocated before they are needed, dropping of the page cache, and the free space.
//
// Its functions keep no state. For features that only Linux has, other systems get a simple substitute.
package disk
