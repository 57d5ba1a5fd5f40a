// Package request sends requests to the API server without decoding or encoding whole objects. It lists and watches the
// objects that package kubewire reads, with the requests, streams and reflectors of client-go. It also sends what
// kubewire encodes.
package request
