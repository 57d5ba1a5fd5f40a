package which

import "fmt"

// WrongError is the error for input that cannot be understood or means several objects. Its text says what to write
// instead.
type WrongError struct {
	text  string
	lines []string
}

func (e *WrongError) Error() string { return e.text }

// Lines returns lines to print before the error: the objects that the user may mean. It may be empty.
func (e *WrongError) Lines() []string { return e.lines }

// Wrong returns a WrongError, the error for input that cannot be understood or means several objects.
func Wrong(format string, args ...any) *WrongError { return wrong(format, args...) }

// WrongLines returns a WrongError with the text, and with lines to print before it, such as the objects that fit.
func WrongLines(text string, lines []string) *WrongError { return &WrongError{text, lines} }

func wrong(format string, args ...any) *WrongError {
	return &WrongError{text: fmt.Sprintf(format, args...)}
}

// UnknownError is the error for an object that the log does not know. Its text says what to write instead.
type UnknownError struct{ text string }

func (e *UnknownError) Error() string { return e.text }

// Unknown returns an UnknownError, the error for an object that the log does not know.
func Unknown(format string, args ...any) *UnknownError {
	return &UnknownError{fmt.Sprintf(format, args...)}
}
