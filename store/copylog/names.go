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

// FileName returns the usual name of a sealed file in the copy. epoch is the epoch of its last record.
func FileName(first events.Sequence, epoch uint64) string {
	return fmt.Sprintf("files/%020d-%d%s", uint64(first), epoch, FileSuffix)
}

// SegmentName returns the usual name of a segment of the newest file. epoch is the epoch of its last record.
func SegmentName(first events.Sequence, epoch uint64) string {
	return fmt.Sprintf("tail/%020d-%d.seg", uint64(first), epoch)
}

// spanName returns the name of a segment with its first and last record. It is used for merged segments, and for a
// segment whose usual name is taken by an object that no manifest names.
func spanName(first, last events.Sequence, epoch uint64) string {
	return fmt.Sprintf("tail/%020d-%020d-%d.seg", uint64(first), uint64(last), epoch)
}

// FileNames returns the names that the object of a sealed file may have, the usual one first. Another process that
// continued the log separately may have stored other records under the usual name. The second name includes the
// beginning of the chain value after the last record, so no other records can have it.
func (f *File) FileNames() []string {
	usual := FileName(f.First, f.Epoch)
	return []string{usual, chainName(usual, f.End.Hash)}
}

// SegmentNames returns the names that the object of a segment may have, the usual one first.
func (f *File) SegmentNames() []string {
	return append([]string{SegmentName(f.First, f.Epoch)}, f.SpanNames()...)
}

// SpanNames returns the names that the object of a merged segment may have, the usual one first.
func (f *File) SpanNames() []string {
	span := spanName(f.First, f.End.Sequence, f.Epoch)
	return []string{span, chainName(span, f.End.Hash)}
}

func chainName(name string, end events.Hash) string {
	suffix := path.Ext(name)
	return fmt.Sprintf("%s-%x%s", strings.TrimSuffix(name, suffix), end[:8], suffix)
}

// WithSuffix returns the name of an object that is derived from the file called name, such as its index.
func WithSuffix(name, suffix string) string { return strings.TrimSuffix(name, path.Ext(name)) + suffix }

// KeptName returns the name of an earlier manifest that is kept.
func KeptName(head events.Sequence, epoch uint64) string {
	return fmt.Sprintf("manifests/%020d-%d", uint64(head), epoch)
}

// ofObject matches all object names except MANIFEST and KEY.
var ofObject = regexp.MustCompile(`^(files/\d{20}-\d+(-[0-9a-f]{16})?\.(db|idx|jobs)|` +
	`tail/\d{20}(-\d{20})?-\d+(-[0-9a-f]{16})?\.seg|manifests/\d{20}-\d+)$`)

// IsKept reports whether name is the name of a manifest: MANIFEST, or an earlier one.
func IsKept(name string) bool {
	return name == ManifestName || ofObject.MatchString(name) && name[0] == 'm'
}
