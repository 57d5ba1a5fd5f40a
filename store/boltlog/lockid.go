package boltlog

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// bootFile is where Linux says which boot of the machine this is.
const bootFile = "/proc/sys/kernel/random/boot_id"

// LockID names the LOCK file that this process holds, as BOOT/DEVICE/INODE: which boot of the machine, and which file
// on it. Two logs with the same one have the same file, so whoever holds it knows that no other process does. A copy of
// the directory, or the same directory after a reboot or on another machine, has another one. Empty when it cannot be
// told.
func (l *Log) LockID() string {
	boot, err := os.ReadFile(bootFile)
	if err != nil {
		return "" // not Linux
	}
	info, err := l.lock.Stat()
	if err != nil {
		return ""
	}
	file, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s/%d/%d", strings.TrimSpace(string(boot)), file.Dev, file.Ino)
}
