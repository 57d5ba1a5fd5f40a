package boltlog

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// bootFile is the file from which Linux programs read the ID of the current boot.
const bootFile = "/proc/sys/kernel/random/boot_id"

// LockID implements store.Opened. It identifies the LOCK file that this process holds, as BOOT/DEVICE/INODE: the boot
// ID of the machine, and the file's device and inode. A copy of the directory has another LockID, and so has the same
// directory after a reboot or on another machine. It is empty when it cannot be determined, for example on systems
// other than Linux.
func (l *Log) LockID() string {
	boot, err := os.ReadFile(bootFile)
	if err != nil {
		return "" // only Linux has this file; elsewhere the ID is empty
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
