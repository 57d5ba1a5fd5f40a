package main

import "github.com/jobledger/jobledger/store/open"

// logAddress is a flag with the address of a log. One of a kind that no backend has is refused.
type logAddress string

func (a *logAddress) String() string { return string(*a) }

// Type is the word for the value in the help.
func (*logAddress) Type() string { return "string" }

// Set takes the address.
func (a *logAddress) Set(text string) error {
	*a = logAddress(text)
	return open.Check(text)
}
