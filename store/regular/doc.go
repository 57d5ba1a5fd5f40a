// Package regular opens the files of a log directory: regular ones, at once, and no larger than their reader expects.
//
//	f, err := regular.Open(path)          // errors.Is(err, regular.ErrOdd): a pipe, a link, a directory, a device
//	b, err := regular.Read(path, 4<<10)   // also ErrOdd: a file of more than 4 KiB; nothing of it is read
//
// Who lists a directory and opens what has the right name waits for ever on a named pipe, follows a link to nowhere or
// to another log, and reads a file of 3 GB of holes into memory. All that reads a log directory opens its files here.
package regular
