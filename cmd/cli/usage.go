package cli

import (
	"errors"
	"fmt"
)

// ErrTold is returned by a command that has failed and has printed why.
var ErrTold = errors.New("the command failed")

// UsageError says that the command line is not valid, and what to do.
type UsageError struct{ text string }

func (e *UsageError) Error() string { return e.text }

// Usage returns a UsageError with the formatted text.
func Usage(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// Counted returns n with the noun one or many: "1 pod", "2 pods".
func Counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
