// Package disk has what a log asks of a file system beyond reading and writing: names and whole files that outlast a
// power cut, blocks allocated before they are needed, a page cache that is dropped, and the space that is left.
//
// Its functions keep no state. What only Linux has is a plain substitute elsewhere.
package disk
