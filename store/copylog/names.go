package copylog

import (
	"fmt"
	"regexp"

	"github.com/jobledger/jobledger/events"
)

// The names of objects. Each follows from the object's entry in the manifest, and never changes.
const (
	ManifestName = "MANIFEST"
	KeyName      = "KEY"

	FileSuffix = ".db"
)

// FileName returns the name of a sealed file, or with another suffix of a file derived from it. epoch is that of its
// last record.
func FileName(first events.Sequence, epoch uint64, suffix string) string {
	return fmt.Sprintf("files/%020d-%d%s", uint64(first), epoch, suffix)
}

// SegmentName returns the usual name of a segment of the tail. epoch is that of its last record.
func SegmentName(first events.Sequence, epoch uint64) string {
	return fmt.Sprintf("tail/%020d-%d.seg", uint64(first), epoch)
}

// SpanName returns the other name of a segment, with both its ends. It is for merged segments, and for a segment whose
// usual name is taken by an object that no manifest names.
func SpanName(first, last events.Sequence, epoch uint64) string {
	return fmt.Sprintf("tail/%020d-%020d-%d.seg", uint64(first), uint64(last), epoch)
}

// KeptName returns the name of an earlier manifest.
func KeptName(head events.Sequence, epoch uint64) string {
	return fmt.Sprintf("manifests/%020d-%d", uint64(head), epoch)
}

// ofObject matches all names of objects except MANIFEST and KEY.
var ofObject = regexp.MustCompile(`^(files/\d{20}-\d+\.(db|idx|jobs)|tail/\d{20}(-\d{20})?-\d+\.seg|manifests/\d{20}-\d+)$`)

// IsKept reports whether name is that of a manifest: MANIFEST, or an earlier one.
func IsKept(name string) bool {
	return name == ManifestName || ofObject.MatchString(name) && name[0] == 'm'
}
