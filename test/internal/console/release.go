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

// SaysOfRelease reports whether out is the output that docs/uninstall.md shows for the command x. It ignores parts that
// differ from run to run: names of pods, log IDs, Lease holders and column widths.
func (x Exchange) SaysOfRelease(out string) bool {
	return constant(strings.Join(x.Output, "\n")) == constant(strings.TrimSpace(out))
}

func constant(text string) string {
	text = releasedPod.ReplaceAllString(text, "$1-POD")
	text = logID.ReplaceAllString(text, "log ID")
	text = heldBy.ReplaceAllString(text, "held by HOLDER")
	return blanks.ReplaceAllString(text, " ")
}
