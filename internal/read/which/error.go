package which

import "fmt"

// WrongError says that what somebody wrote cannot be understood, or means several objects, and what to write instead.
type WrongError struct {
	text  string
	lines []string
}

func (e *WrongError) Error() string { return e.text }

// Lines are to be shown before the error: the objects of which one may be meant. There may be none.
func (e *WrongError) Lines() []string { return e.lines }

func wrong(format string, args ...any) *WrongError {
	return &WrongError{text: fmt.Sprintf(format, args...)}
}
