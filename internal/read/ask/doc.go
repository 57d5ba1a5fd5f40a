// Package ask has the questions that a log answers, each as one value: its name, its parameters, what it needs, how it
// is answered, and the type of the answer.
//
//	q := ask.Explain.New()
//	err := q.Read([]string{"prod/etl"}) // what a command line or an address names
//	answer, err := q.Ask(ctx, ask.Source{Source: log, Note: note})
//
// The command binds the parameters of a question to its flags, the service at /v1/ reads them from an address, and the
// pages of docs are made from the list [All]. So one question reads the same, and answers the same bytes, wherever it
// is asked.
//
// The time zone is a parameter, as sentences of an answer have times in them. The width of lines, colours, the form
// (-o) and verbosity (-v) are none: they belong to the printing, and an answer is the same value for all of them.
//
// # Errors
//
// An answer beside an error is an answer all the same, of a log that cannot be read as a whole: the error says where.
// An error without an answer is a [which.WrongError] where the question cannot be understood, a [which.UnknownError]
// where the log does not know the object, and that of the log otherwise.
//
// # Concurrency
//
// A Question and the list may be used by several goroutines. An Asked is of one goroutine, and asks once.
//
// Read question.go, then explain.go for a question with an object and failures.go for one without.
package ask
