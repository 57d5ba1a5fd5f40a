package bench

import "testing"

func TestTheProgramsPagesAreToldApart(t *testing.T) {
	const maps = `00400000-01000000 r-xp 00000000 fe:00 12 /opt/a program
Size:              12288 kB
Rss:                4096 kB
VmFlags: rd ex mr mw me
01000000-01100000 rw-p 00000000 00:00 0
Rss:                 512 kB
02000000-02100000 r--s 00000000 fe:00 13 /var/log/00000001.db
Rss:                 256 kB
03000000-03100000 r--p 00c00000 fe:00 12 /opt/a program
Rss:                1024 kB
04000000-04100000 rw-p 00000000 00:00 0 [heap]
Rss:                   8 kB
`
	got, err := residentOf(maps, "/opt/a program")
	if err != nil || got != 5120<<10 {
		t.Errorf("its pages are %d bytes, %v; want %d", got, err, 5120<<10)
	}
}
