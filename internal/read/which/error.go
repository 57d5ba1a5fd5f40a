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

// Wrong makes a WrongError.
func Wrong(format string, args ...any) *WrongError { return wrong(format, args...) }

// WrongLines makes a WrongError of a text and lines to be shown before it.
func WrongLines(text string, lines []string) *WrongError { return &WrongError{text, lines} }

func wrong(format string, args ...any) *WrongError {
	return &WrongError{text: fmt.Sprintf(format, args...)}
}

// UnknownError says that the log does not know an object, and what may be written instead.
type UnknownError struct{ text string }

func (e *UnknownError) Error() string { return e.text }

// Unknown makes an UnknownError.
func Unknown(format string, args ...any) *UnknownError {
	return &UnknownError{fmt.Sprintf(format, args...)}
}
