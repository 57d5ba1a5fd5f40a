//go:build failpoints

package controller

import (
	"os"

	"github.com/jobledger/jobledger/internal/run/failpoint"
	"github.com/jobledger/jobledger/reconciler/executor"
	"github.com/jobledger/jobledger/store"
)

// withFailpoints wraps log and api, which carry every command, with points at which an environment variable can make
// this process end. Crash tests use it.
func withFailpoints(log store.Log, api clusterAPI) (store.Log, clusterAPI, error) {
	points, err := failpoint.FromEnv(os.Getenv)
	if err != nil {
		return nil, nil, err
	}
	return points.Log(log), struct {
		executor.API
		executor.GroupAPI
		executor.WorkloadAPI
		executor.CronAPI
	}{points.API(api), points.Groups(api), points.Workloads(api), points.Crons(api)}, nil
}

// refillPoints returns the function to call at each step of a refill, which can make this process end there. A refill
// stores records in the log's NATS stream again that the stream has lost.
func refillPoints() (func(string), error) {
	points, err := failpoint.FromEnv(os.Getenv)
	if err != nil {
		return nil, err
	}
	return points.Refill, nil
}
