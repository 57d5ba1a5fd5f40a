package copylog

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/jobledger/jobledger/events"
)

// The names of objects. Each follows from the object's entry in the manifest, and never changes.
const (
	ManifestName = "MANIFEST"
	KeyName      = "KEY"

	FileSuffix = ".db"
)

// FileName returns the usual name of a sealed file. epoch is that of its last record.
func FileName(first events.Sequence, epoch uint64) string {
	return fmt.Sprintf("files/%020d-%d%s", uint64(first), epoch, FileSuffix)
}

// SegmentName returns the usual name of a segment of the tail. epoch is that of its last record.
func SegmentName(first events.Sequence, epoch uint64) string {
	return fmt.Sprintf("tail/%020d-%d.seg", uint64(first), epoch)
}

// spanName returns the name of a segment with both its ends. It is for merged segments, and for a segment whose usual
// name is taken by an object that no manifest names.
func spanName(first, last events.Sequence, epoch uint64) string {
	return fmt.Sprintf("tail/%020d-%020d-%d.seg", uint64(first), uint64(last), epoch)
}

// FileNames returns the names that the object of a sealed file may have, the usual one first. The writer of a fork may
// have put an object with other records under that name. The last name has the beginning of the chain value behind the
// last record, so no other records have it.
func (f *File) FileNames() []string {
	usual := FileName(f.First, f.Epoch)
	return []string{usual, chainName(usual, f.End.Hash)}
}

// SegmentNames returns the names that the object of a segment may have, as FileNames does.
func (f *File) SegmentNames() []string {
	return append([]string{SegmentName(f.First, f.Epoch)}, f.SpanNames()...)
}

// SpanNames returns the names that the object of a merged segment may have, as FileNames does.
func (f *File) SpanNames() []string {
	span := spanName(f.First, f.End.Sequence, f.Epoch)
	return []string{span, chainName(span, f.End.Hash)}
}

func chainName(name string, end events.Hash) string {
	suffix := path.Ext(name)
	return fmt.Sprintf("%s-%x%s", strings.TrimSuffix(name, suffix), end[:8], suffix)
}

// WithSuffix returns the name of an object that is derived from the file with that name.
func WithSuffix(name, suffix string) string { return strings.TrimSuffix(name, path.Ext(name)) + suffix }

// KeptName returns the name of an earlier manifest.
func KeptName(head events.Sequence, epoch uint64) string {
	return fmt.Sprintf("manifests/%020d-%d", uint64(head), epoch)
}

// ofObject matches all names of objects except MANIFEST and KEY.
var ofObject = regexp.MustCompile(`^(files/\d{20}-\d+(-[0-9a-f]{16})?\.(db|idx|jobs)|` +
	`tail/\d{20}(-\d{20})?-\d+(-[0-9a-f]{16})?\.seg|manifests/\d{20}-\d+)$`)

// IsKept reports whether name is that of a manifest: MANIFEST, or an earlier one.
func IsKept(name string) bool {
	return name == ManifestName || ofObject.MatchString(name) && name[0] == 'm'
}
