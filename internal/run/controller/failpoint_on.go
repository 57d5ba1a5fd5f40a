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

// refillPoints returns the function to call at each step of a refill of the log's stream: it can make this process end.
func refillPoints() (func(string), error) {
	points, err := failpoint.FromEnv(os.Getenv)
	if err != nil {
		return nil, err
	}
	return points.Refill, nil
}
