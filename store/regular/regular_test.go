package regular_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jobledger/jobledger/store/regular"
)

// TestOnlyRegularFilesAreOpened: other files are not opened, followed or read, and opening them does not block.
func TestOnlyRegularFilesAreOpened(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(in("file"), []byte("content"), 0o600), os.Mkdir(in("dir"), 0o700), syscall.Mkfifo(in("pipe"), 0o600),
		os.Symlink(in("file"), in("link")), os.Symlink(in("nowhere"), in("dangling"))); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", in("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	for name, says := range map[string]string{
		"file": "", "dir": "is a directory", "pipe": "is a named pipe", "link": "is a symbolic link", "dangling": "is a symbolic link",
		"socket": "is a socket",
	} {
		t.Run(name, func(t *testing.T) {
			content, err := regular.Read(in(name), 7)
			_, made := regular.OpenFile(in(name), os.O_RDWR|os.O_CREATE, 0o600)
			for _, err := range []error{err, made, regular.Check(in(name))} {
				if says == "" && err != nil || says != "" && (!errors.Is(err, regular.ErrOdd) || !strings.Contains(err.Error(), says)) {
					t.Errorf("it is told %v, want %q", err, says)
				}
			}
			if says == "" && string(content) != "content" {
				t.Errorf("it has %q", content)
			}
		})
	}
	if _, err := os.Lstat(in("nowhere")); err == nil {
		t.Error("what a dangling link names was made")
	}
}

// TestALargeFileIsNotRead: the size is checked first.
func TestALargeFileIsNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sparse")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Skip(err) // the file system has no such sizes
	}
	if _, err := regular.Read(path, 4<<10); !errors.Is(err, regular.ErrOdd) {
		t.Errorf("it is read: %v", err)
	}
}
