// Package reader is the process 'jobledger serve', through which many users read one log. Each user can ask the
// questions of /v1/ and see the web pages, for the namespaces that this user may read.
//
//	r, err := reader.New(reader.Config{Address: ":10273", Client: client, Log: log})
//	err = r.Run(ctx)
//
// A request carries a bearer token of Kubernetes or a client certificate of the cluster, even on loopback. Package
// identity asks the API server which user sent it, and whether that user may list Jobs in the namespace of the request.
// Users with rights in one namespace only get answers through package permit, and each answer says so. A refusal names
// the missing right, and reveals nothing about the log.
//
// The page of a record does not name a namespace in its URL; it belongs to the namespace of the record's object. A user
// who may not read that namespace gets the same refusal for every record, whether or not the record exists.
//
// # Where the log is
//
// A [Log] is opened for each request. [Controller] is the log of a running controller. It asks the controller every two
// seconds for its newest record. So when a request fails, the answer can say since when the controller does not answer,
// and which is the newest known record.
//
// # Limits
//
// Eight requests are answered at a time, two of them for the same user; pages count as requests. Further requests wait
// up to 2 s, and are then told to come again. An answer ends after 10 s or 4 MiB. A revoked right stays effective for
// up to 10 s.
//
// # Concurrency
//
// One goroutine runs a Reader. Requests are answered concurrently.
//
// Read reader.go, then source.go.
package reader
