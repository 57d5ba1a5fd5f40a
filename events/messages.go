package events

import (
	"fmt"
	"strings"
)

// Keep selects how much is recorded of texts from containers: termination messages, which may hold the end of a
// container's log, and the reasons why a container waits. No decision reads these texts.
type Keep uint8

// The values: keep everything, a part, or nothing.
const (
	KeepAll Keep = iota
	KeepFirstLine
	KeepNone
)

// KeepAnnotation on a namespace overrides how much is kept in that namespace.
const KeepAnnotation = "jobledger.dev/keep-messages"

var keeps = map[string]Keep{"all": KeepAll, "first-line": KeepFirstLine, "none": KeepNone}

// ParseKeep parses a value of the flag --keep-messages or of KeepAnnotation. It returns KeepNone and an error for any
// other text.
func ParseKeep(text string) (Keep, error) {
	k, ok := keeps[text]
	if !ok {
		return KeepNone, fmt.Errorf("%q must be all, first-line or none", text)
	}
	return k, nil
}

// Of returns the part of message that is kept. withheld reports whether that is less than the whole message.
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

// Texts that people read in place of a message that was not kept, and after its first line.
const (
	NotKept       = "message not kept in this namespace"
	FirstLineKept = "only its first line is kept in this namespace"
)

// Said returns the message, or a text that says that the message was not recorded.
func (w *ContainerWait) Said() string {
	switch {
	case !w.MessageWithheld:
		return w.Message
	case w.Message == "":
		return NotKept
	}
	return w.Message + " (" + FirstLineKept + ")"
}
