package copylog

import (
	"fmt"
	"regexp"

	"github.com/jobledger/jobledger/events"
)

// The names of objects. Each is made of what the manifest says of the object, and is for ever.
const (
	ManifestName = "MANIFEST"
	KeyName      = "KEY"

	FileSuffix = ".db"
)

// FileName is the name of a sealed file, or with another suffix of what is derived from it. The epoch is that of its
// last record.
func FileName(first events.Sequence, epoch uint64, suffix string) string {
	return fmt.Sprintf("files/%020d-%d%s", uint64(first), epoch, suffix)
}

// SegmentName is the name of a segment of the tail. The epoch is that of its last record.
func SegmentName(first events.Sequence, epoch uint64) string {
	return fmt.Sprintf("tail/%020d-%d.seg", uint64(first), epoch)
}

// SpanName is the other name of a segment, by both its ends: of one that was made of several, and of one whose first
// name an object has that no manifest names.
func SpanName(first, last events.Sequence, epoch uint64) string {
	return fmt.Sprintf("tail/%020d-%020d-%d.seg", uint64(first), uint64(last), epoch)
}

// KeptName is the name of a manifest that stays.
func KeptName(head events.Sequence, epoch uint64) string {
	return fmt.Sprintf("manifests/%020d-%d", uint64(head), epoch)
}

// ofObject is what names of objects look like, but for MANIFEST and KEY.
var ofObject = regexp.MustCompile(`^(files/\d{20}-\d+\.(db|idx|jobs)|tail/\d{20}(-\d{20})?-\d+\.seg|manifests/\d{20}-\d+)$`)

// IsKept reports whether a name is one of a manifest: MANIFEST, or one that stays.
func IsKept(name string) bool {
	return name == ManifestName || ofObject.MatchString(name) && name[0] == 'm'
}
