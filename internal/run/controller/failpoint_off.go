//go:build !failpoints

package controller

import "github.com/jobledger/jobledger/store"

// withFailpoints returns log and api unchanged. In a build with the tag failpoints, for crash tests, it wraps them with
// points at which the process can be made to end; see failpoint_on.go.
func withFailpoints(log store.Log, api clusterAPI) (store.Log, clusterAPI, error) {
	return log, api, nil
}

// refillPoints returns what is called at each step of a refill of the log's stream: nothing.
func refillPoints() (func(string), error) { return nil, nil }
