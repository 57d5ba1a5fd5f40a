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

// FileName returns the usual name of a sealed log file in the copy. first is its first record, epoch the epoch (life of
// the log) of its last record.
func FileName(first events.Sequence, epoch uint64) string {
	return fmt.Sprintf("files/%020d-%d%s", uint64(first), epoch, FileSuffix)
}

// SegmentName returns the usual name of a segment (object with a part of the newest log file). first is its first
// record, epoch the epoch (life of the log) of its last record.
func SegmentName(first events.Sequence, epoch uint64) string {
	return fmt.Sprintf("tail/%020d-%d.seg", uint64(first), epoch)
}

// spanName returns a name for a segment (object with a part of a log file) that includes its last record. It is used
// for merged segments, and for a segment whose usual name is taken by an object that no manifest names.
func spanName(first, last events.Sequence, epoch uint64) string {
	return fmt.Sprintf("tail/%020d-%020d-%d.seg", uint64(first), uint64(last), epoch)
}

// FileNames returns the names that the object of a sealed log file may have, the usual one first. The usual name may be
// taken by other records, if another process continued the log separately. The second name includes the beginning of
// the chain value (hash over all records so far) after the last record, so no other records can have it.
func (f *File) FileNames() []string {
	usual := FileName(f.First, f.Epoch)
	return []string{usual, chainName(usual, f.End.Hash)}
}

// SegmentNames returns the names that the object of a segment (part of a log file) may have, the usual one first.
func (f *File) SegmentNames() []string {
	return append([]string{SegmentName(f.First, f.Epoch)}, f.SpanNames()...)
}

// SpanNames returns the names that the object of a merged segment (several parts of a log file in one) may have, the
// usual one first.
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

// KeptName returns the name of an earlier manifest that is kept. head is the last record of the copy that it describes,
// epoch the epoch (life of the log) of that record.
func KeptName(head events.Sequence, epoch uint64) string {
	return fmt.Sprintf("manifests/%020d-%d", uint64(head), epoch)
}

// ofObject matches the names of all objects of a copy, except the two fixed names MANIFEST and KEY.
var ofObject = regexp.MustCompile(`^(files/\d{20}-\d+(-[0-9a-f]{16})?\.(db|idx|jobs)|` +
	`tail/\d{20}(-\d{20})?-\d+(-[0-9a-f]{16})?\.seg|manifests/\d{20}-\d+)$`)

// IsKept reports whether name is the name of a manifest: MANIFEST, or an earlier one.
func IsKept(name string) bool {
	return name == ManifestName || ofObject.MatchString(name) && name[0] == 'm'
}
