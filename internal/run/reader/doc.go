// Package reader is the process in which many users read one log: each gets the questions of /v1/ and the pages, of
// what he may read.
//
//	r, err := reader.New(reader.Config{Address: ":10273", Client: client, Log: log})
//	err = r.Run(ctx)
//
// A request has a bearer token of Kubernetes or a client certificate of the cluster, on loopback too; package identity
// asks the API server whose it is, and whether that user may list Jobs in the namespace that the request is about. Who
// may read one namespace is answered from package permit, and each answer says so. A refusal names the right that is
// missing, and nothing of what is in the log.
//
// The page of a record names no namespace. It is that of the record's object, if the user may read it; else the refusal
// is the same whatever the record is, and whether or not there is one.
//
// # Where the log is
//
// A [Log] is opened for each request. [Controller] is one that a running controller has: it is asked each two seconds
// how far it is, so that a request which it does not answer is told since when, and which record is the newest that is
// known.
//
// # Bounds
//
// Eight requests are answered at a time, questions and pages together, and two for each user. Others wait 2 s, then
// they are told to come again. An answer ends after 10 s or 4 MiB. A right that was taken away is still had for 10 s.
//
// # Concurrency
//
// A Reader is run by one goroutine. Requests are answered at the same time.
//
// Read reader.go, then source.go.
package reader
