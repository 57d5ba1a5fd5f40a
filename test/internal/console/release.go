package console

import (
	"regexp"
	"strings"
)

var (
	releasedPod = regexp.MustCompile(`(report)-[a-z0-9]{5}\b`)
	logID       = regexp.MustCompile(`log [0-9a-f]{32}`)
	heldBy      = regexp.MustCompile(`held by \S+_[0-9a-f…]+`)
	blanks      = regexp.MustCompile(` +`)
)

// SaysOfRelease reports whether out is what docs/uninstall.md shows of the command, but for what differs from run to
// run: the names of pods of the Job report, of logs and of who holds a Lease, and the widths of columns.
func (x Exchange) SaysOfRelease(out string) bool {
	return constant(strings.Join(x.Output, "\n")) == constant(strings.TrimSpace(out))
}

func constant(text string) string {
	text = releasedPod.ReplaceAllString(text, "$1-POD")
	text = logID.ReplaceAllString(text, "log ID")
	text = heldBy.ReplaceAllString(text, "held by HOLDER")
	return blanks.ReplaceAllString(text, " ")
}
