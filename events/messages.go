package events

import (
	"fmt"
	"strings"
)

// Keep says how much is recorded of what containers write or others write of them: termination messages, which may be
// the end of a container's log, and why a container waits. They are evidence: nothing is decided by them.
type Keep uint8

// The values.
const (
	KeepAll Keep = iota
	KeepFirstLine
	KeepNone
)

// KeepAnnotation is the annotation of a namespace that says how much is kept there, whatever is kept elsewhere.
const KeepAnnotation = "jobledger.dev/keep-messages"

var keeps = map[string]Keep{"all": KeepAll, "first-line": KeepFirstLine, "none": KeepNone}

// ParseKeep reads the value of the flag and of the annotation.
func ParseKeep(text string) (Keep, error) {
	k, ok := keeps[text]
	if !ok {
		return KeepNone, fmt.Errorf("%q must be all, first-line or none", text)
	}
	return k, nil
}

// Of is what is kept of a message, and whether that is less than all of it.
func (k Keep) Of(message string) (kept string, withheld bool) {
	switch k {
	case KeepAll:
		return message, false
	case KeepNone:
		return "", message != ""
	case KeepFirstLine:
	}
	first, rest, _ := strings.Cut(strings.TrimLeft(message, "\r\n"), "\n")
	return strings.TrimRight(first, "\r"), strings.TrimSpace(rest) != ""
}

// What is said in the place of a message that was not kept, and behind the first line of one.
const (
	NotKept       = "message not kept in this namespace"
	FirstLineKept = "only its first line is kept in this namespace"
)

// Said is the message, or that it was not kept.
func (w *ContainerWait) Said() string {
	switch {
	case !w.MessageWithheld:
		return w.Message
	case w.Message == "":
		return NotKept
	}
	return w.Message + " (" + FirstLineKept + ")"
}
