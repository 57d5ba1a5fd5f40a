// Package ask defines the questions that a log answers, such as [Explain] and [Failures]. Each is one value with its
// name, its parameters, the function that answers it, and the type of the answer.
//
//	q := ask.Explain.New()
//	err := q.Read([]string{"prod/etl"}) // the arguments of a command line or an address
//	answer, err := q.Ask(ctx, ask.Source{Source: log, Note: note, Behind: note, Clock: time.Now})
//
// The command binds the parameters of a question to its flags, the service reads them from an address below /v1/, and
// the pages of docs are made from the list [All]. A question therefore reads the same, and its answer has the same
// bytes, wherever it is asked.
//
// The time zone is a parameter, because the sentences of an answer contain times. Line width, colours, output form (-o)
// and verbosity (-v) are not parameters: they belong to printing, and the answer is the same value for all of them.
//
// # Errors
//
// If Ask returns an answer and an error, the answer is valid for the part of the log that could be read, and the error
// names the damaged place. If it returns an error alone, that is a [which.WrongError] when the question cannot be
// understood, a [which.UnknownError] when the log does not know the object, and otherwise an error of the log. Only
// Events has an answer beside an UnknownError, for who waits for the first record of the object.
//
// # Concurrency
//
// Several goroutines may use a Question and the list. An Asked belongs to one goroutine and is asked once.
//
// Read question.go, then explain.go for a question with an object and lists.go for questions without one.
package ask
