// Package regular opens files of a log directory safely: only regular files, without blocking, and with a limit for
// their size.
//
//	f, err := regular.Open(path)          // errors.Is(err, regular.ErrOdd): a pipe, a link, a directory, a device
//	b, err := regular.Read(path, 4<<10)   // ErrOdd also for a file of more than 4 KiB; it is not read
//
// Without these checks, code that opens a name in a directory may block for ever on a named pipe, follow a link to
// another log, or read a sparse file of 3 GB into memory. All code that reads a log directory uses this package.
package regular
