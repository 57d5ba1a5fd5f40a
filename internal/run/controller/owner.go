package controller

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// giveToOwner gives the files of root in a directory of another user to that user and its group. A controller in a
// container runs as user 65532; what root makes in its log by hand, it could not open at its next start. It does
// nothing for users other than root, nor where there is no directory.
//
//	before: log/ 65532, 1.db 65532, HEAD 0      after: HEAD 65532
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

// ownerOf is the user and the group of a file; not ok where it is gone, or the system has no such thing.
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
