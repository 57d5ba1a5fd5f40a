package main

import (
	"errors"
	"fmt"
)

// errTold: the command failed, and has said so.
var errTold = errors.New("the command failed")

// usageError is a command line that cannot be understood. Its text says what to do.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usage(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// counted is a number and its noun.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
