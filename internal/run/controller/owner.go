package controller

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// giveToOwner changes the owner of the files in dir that belong to root to the owner of dir. It does so only if it runs
// as root, and dir has another owner. A controller in a container runs as user 65532, and could not open a file of its
// log that root wrote by a command on the host. A missing dir is no error.
func giveToOwner(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	owner, group, ok := ownerOf(dir)
	if !ok || owner == 0 {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		file := filepath.Join(dir, e.Name())
		if of, _, ok := ownerOf(file); !ok || of != 0 {
			continue
		}
		if err := os.Lchown(file, owner, group); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// ownerOf returns the user and the group of a file; ok is false if the file is gone or the system has no file owners.
func ownerOf(file string) (user, group int, ok bool) {
	info, err := os.Lstat(file)
	if err != nil {
		return 0, 0, false
	}
	of, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(of.Uid), int(of.Gid), true
}
