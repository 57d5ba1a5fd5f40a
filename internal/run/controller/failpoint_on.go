//go:build failpoints

package controller

import (
	"os"

	"github.com/jobledger/jobledger/internal/run/failpoint"
	"github.com/jobledger/jobledger/reconciler/executor"
	"github.com/jobledger/jobledger/store"
)

// withFailpoints wraps log and api, through which every command passes, with points at which the environment can make
// this process end.
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

// refillPoints returns what is called at each step of a refill of the log's stream.
func refillPoints() (func(string), error) {
	points, err := failpoint.FromEnv(os.Getenv)
	if err != nil {
		return nil, err
	}
	return points.Refill, nil
}
