//go:build !failpoints

package controller

import "github.com/jobledger/jobledger/store"

// withFailpoints returns log and api unchanged in a normal build. In a build with the tag failpoints, for crash tests,
// it adds points at which the process can be made to end; see failpoint_on.go.
func withFailpoints(log store.Log, api clusterAPI) (store.Log, clusterAPI, error) {
	return log, api, nil
}

// refillPoints returns nil: in a normal build no function is called at the steps of a refill. A refill stores records
// in the log's NATS stream again that the stream has lost.
func refillPoints() (func(string), error) { return nil, nil }
