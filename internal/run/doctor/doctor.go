package doctor

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats/publish"
)

// Level is the severity of a finding.
type Level string

// The levels, from good to bad; Unknown means that the check could not be made.
const (
	OK      Level = "ok"
	Note    Level = "note"    // worth knowing; no action needed
	Warning Level = "warning" // it works, but less well, or not for long
	Problem Level = "problem" // a controller cannot work, or Jobs do not progress
	Unknown Level = "unknown" // not checked; Do says what the check needs
)

// Finding is one line of the report.
type Finding struct {
	Check string `json:"check"`
	Level Level  `json:"level"`
	Text  string `json:"text"`
	Do    string `json:"do,omitempty"` // what the operator can do about it; empty for nothing

	unreachable bool // the API server does not answer at all
}

// Config describes the controller for which the checks are made.
type Config struct {
	Client kubernetes.Interface
	// Raw reads a path of the API server as JSON; nil to use Client.
	Raw      func(ctx context.Context, path string) ([]byte, error)
	Settings events.Settings
	// Account is the ServiceAccount whose rights are checked, as namespace/name; empty for the caller.
	Account string
	// Authorize says whether scrapers or readers must authenticate, which the controller checks with the API server
	// (--metrics-authorize, --readers).
	Authorize bool
	// Follows says whether the account reads the log of another controller (--follow).
	Follows bool
	// WatchCluster says whether nodes and namespaces are watched (--watch-cluster).
	WatchCluster bool
	Lease        Lease
	// Clock returns the API server's time and whether it is known.
	Clock func() (server time.Time, ok bool)
	Now   func() time.Time
	Log   Log
	Copy  Copy
	// Replicate is the replication of the log.
	Replicate Replicate
	NATS      *publish.Config // nil if nothing is published, or the server runs in the controller's process
}

// Lease is the Lease that the controller would hold.
type Lease struct {
	On        bool
	Namespace string
}

// check is one check of the list. Run adds the name to its findings.
type check struct {
	name   string
	server bool // skipped if the API server does not answer
	look   func(context.Context, *Config) []Finding
}

// checks lists all checks in the order in which they run. A check comes after those on which it depends.
var checks = []check{
	{"server", true, server},
	{"features", true, features},
	{"clock", true, clock},
	{"rights", true, rights},
	{"jobs", true, jobs},
	{"cronjobs", true, cronJobs},
	{"webhooks", true, webhooks},
	{"finalizers", true, finalizers},
	{"lease", true, leaseHolder},
	{"disk", false, disk},
	{"log", false, logKept},
	{"nats", false, natsServer},
	{"copy", false, copyPlace},
	{"replicate", false, replicatedLog},
}

// Run makes all checks, calls tell with each finding at once, and returns the worst level. If the API server does not
// answer, it skips the checks that need it.
func Run(ctx context.Context, c *Config, tell func(Finding)) (worst Level) {
	worst = OK
	reachable := true
	for _, check := range checks {
		if check.server && !reachable {
			continue
		}
		for _, f := range check.look(ctx, c) {
			f.Check = check.name
			if worse(f.Level, worst) {
				worst = f.Level
			}
			tell(f)
			reachable = reachable && !f.unreachable
		}
	}
	return worst
}

// worse reports whether a is worse than b.
func worse(a, b Level) bool {
	rank := map[Level]int{OK: 0, Note: 1, Unknown: 2, Warning: 3, Problem: 4}
	return rank[a] > rank[b]
}

// well returns the single finding of a check that found no problem.
func well(text string) []Finding { return []Finding{{Level: OK, Text: text}} }

// Limits of the lists that a check reads, so that it does not overload the server: 20 pages of 500 objects, 10,000
// objects.
const (
	pageSize = 500
	pages    = 20
)

// page returns the options for the next page of a list.
func page(next string) metav1.ListOptions { return metav1.ListOptions{Limit: pageSize, Continue: next} }
