package cli

import (
	"errors"
	"fmt"
)

// ErrTold: the command failed, and has said so.
var ErrTold = errors.New("the command failed")

// UsageError is a command line that cannot be understood. Its text says what to do.
type UsageError struct{ text string }

func (e *UsageError) Error() string { return e.text }

// Usage is a UsageError of that text.
func Usage(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// Counted is a number and its noun.
func Counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
