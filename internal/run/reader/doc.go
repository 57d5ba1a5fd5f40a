// Package reader is the process through which many users read one log. Each user gets the questions of /v1/ and the
// pages, for the namespaces he may read.
//
//	r, err := reader.New(reader.Config{Address: ":10273", Client: client, Log: log})
//	err = r.Run(ctx)
//
// A request carries a bearer token of Kubernetes or a client certificate of the cluster, on loopback too. Package
// identity asks the API server for the user behind it, and whether that user may list Jobs in the namespace of the
// request. Users with one namespace get answers from package permit, and each answer says so. A refusal names the
// missing right, and tells nothing about the log.
//
// The page of a record names no namespace: it is that of the record's object. A user without the right to read it gets
// the same refusal for every record, whether or not it exists.
//
// # Where the log is
//
// A [Log] is opened for each request. [Controller] is the log of a running controller. It asks the controller every two
// seconds for its head. So when a request fails, the answer can say since when the controller is away, and which record
// is the newest known.
//
// # Bounds
//
// Eight requests, questions and pages together, are answered at a time, and two for each user. Further requests wait up
// to 2 s, and then get the answer to come again. An answer ends after 10 s or 4 MiB. A revoked right stays effective
// for up to 10 s.
//
// # Concurrency
//
// One goroutine runs a Reader. Requests are answered concurrently.
//
// Read reader.go, then source.go.
package reader
