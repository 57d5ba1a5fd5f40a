// Package regular opens the files of a log directory safely: only regular files, without blocking, and with a size
// limit.
//
//	f, err := regular.Open(path)          // errors.Is(err, regular.ErrOdd): a pipe, a link, a directory, a device
//	b, err := regular.Read(path, 4<<10)   // also ErrOdd: a file of more than 4 KiB; nothing of it is read
//
// Code that opens whatever has the right name in a directory blocks for ever on a named pipe, follows a link to another
// log, or reads a sparse file of 3 GB into memory. All code that reads a log directory uses this package.
package regular
