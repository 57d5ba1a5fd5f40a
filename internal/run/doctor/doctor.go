package doctor

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats/publish"
)

// Level says how bad a finding is.
type Level string

// The levels.
const (
	OK      Level = "ok"
	Note    Level = "note"    // worth knowing; nothing has to be done
	Warning Level = "warning" // it works, but not as well, or not for long
	Problem Level = "problem" // a controller cannot work, or Jobs do not go on
	Unknown Level = "unknown" // it could not be looked at; Do says what is missing for that
)

// Finding is one thing that a check found.
type Finding struct {
	Check string `json:"check"`
	Level Level  `json:"level"`
	Text  string `json:"text"`
	Do    string `json:"do,omitempty"` // what to do about it; empty where nothing has to be done

	unreachable bool // the API server cannot be asked anything
}

// Config says for what controller to look.
type Config struct {
	Client kubernetes.Interface
	// Raw reads a path of the API server, in JSON; nil for the client's own way.
	Raw      func(ctx context.Context, path string) ([]byte, error)
	Settings events.Settings
	// Account is whose rights are looked at, namespace/name of a ServiceAccount; empty for the one that asks.
	Account string
	// Authorize is whether the API server is asked who scrapers and readers are (--metrics-authorize, --readers).
	Authorize bool
	// WatchCluster is whether nodes and namespaces are watched (--watch-cluster).
	WatchCluster bool
	Lease        Lease
	// Clock is the time of the API server when it last answered, and how long ago that was; ok is false before.
	Clock func() (server time.Time, ok bool)
	Now   func() time.Time
	Log   Log
	Copy  Copy
	NATS  *publish.Config // nil where nothing is to be published, and where the server is in the controller's own process
}

// Lease is the one that the controller is to hold.
type Lease struct {
	On        bool
	Namespace string
}

// check is one look. Its findings need no name; Run gives it.
type check struct {
	name   string
	server bool // it asks the API server
	look   func(context.Context, *Config) []Finding
}

// checks are all, in the order in which they are told: what others depend on first.
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
}

// Run makes all checks, and tells each finding as soon as it is known. When the server does not answer, the checks that
// ask it are left out.
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

// worse orders the levels.
func worse(a, b Level) bool {
	rank := map[Level]int{OK: 0, Note: 1, Unknown: 2, Warning: 3, Problem: 4}
	return rank[a] > rank[b]
}

// well is the finding of a check that found nothing else.
func well(text string) []Finding { return []Finding{{Level: OK, Text: text}} }

// The pages of a list that a check reads, and how many objects that are at most: a look must not become a load.
const (
	pageSize = 500
	pages    = 20
)

// page is the options for the next page of a list.
func page(next string) metav1.ListOptions { return metav1.ListOptions{Limit: pageSize, Continue: next} }
