package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrOdd: the directory entry is not a file that this program wrote. Trying again does not help.
var ErrOdd = errors.New("no file that jobledger wrote")

// Open opens a regular file for reading. It does not follow a symbolic link, and does not block on a pipe.
func Open(path string) (*os.File, error) { return OpenFile(path, os.O_RDONLY, 0) }

// OpenFile is like os.OpenFile, but opens or creates only regular files. For anything else it returns ErrOdd.
func OpenFile(path string, flag int, perm os.FileMode) (*os.File, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0:
	case err != nil:
		return nil, err
	default:
		if err := odd(path, info); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, perm)
	if err != nil {
		return nil, err
	}
	// Check again: another file may have taken the place of the checked one between Lstat and open.
	if info, err = f.Stat(); err == nil {
		err = odd(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Read returns the content of a file. If the file has more than `most` bytes, it returns ErrOdd.
func Read(path string, most int64) (content []byte, err error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > most {
		return nil, fmt.Errorf("%s has %d bytes, and at most %d are expected: %w", path, info.Size(), most, ErrOdd)
	}
	content = make([]byte, info.Size())
	n, err := io.ReadFull(f, content)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // the file became shorter while it was read: return the rest without an error
	}
	return content[:n], err
}

// Check returns ErrOdd unless path is a regular file.
func Check(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	return odd(path, info)
}

func odd(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return fmt.Errorf("%s is a %s: %w", path, kindOf(info.Mode()), ErrOdd)
}

func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "directory"
	case m&fs.ModeSymlink != 0:
		return "symbolic link"
	case m&fs.ModeNamedPipe != 0:
		return "named pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}
