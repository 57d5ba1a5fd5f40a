package failpoint

import (
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Env is the environment variable that sets where the process ends: NAME:COUNT. For example, append.after:3 ends it
// when it passes that point for the third time. append.after:3:stop stops it there (SIGSTOP) until it gets SIGCONT.
const Env = "JOBLEDGER_FAILPOINT"

// The points, where the process can be made to end, in the order in which a command passes them. At calls and at
// destinations of copies, the point's name ends with a verb: call.before.create-pod, place.after.put-object.
const (
	AppendBefore  = "append.before"  // a turn of the loop has decided; the log does not have its records yet
	AppendAfter   = "append.after"   // the log has accepted the records; they may be durable or not
	DurableBefore = "durable.before" // records are durable, and nothing in the process knows it yet
	DurableAfter  = "durable.after"  // whoever waited for the durable records has acted on them
	CallBefore    = "call.before"    // a durable command is about to be sent
	CallAfter     = "call.after"     // the API server has confirmed the call; the answer is not yet reported
	OutcomeBefore = "outcome.before" // the loop knows the results of commands; the log does not have them yet
	// the log has accepted records with results of commands; they may be durable or not
	OutcomeAfter   = "outcome.after"
	SnapshotBefore = "snapshot.before" // a snapshot is about to be saved
	SnapshotAfter  = "snapshot.after"  // a snapshot has been saved
	PlaceBefore    = "place.before"    // a request to the destination of a copy is about to be sent
	PlaceAfter     = "place.after"     // the destination has confirmed the request; the answer is not yet reported
	RefillStep     = "refill"          // one step of a refill: records are stored in the log's stream again
)

// The verbs at the end of the names of points at calls to the API server. All verbs in the traits (properties) of
// commands are among them.
const (
	CreatePod    = "create-pod"
	DeletePod    = "delete-pod"
	PatchPod     = "patch-pod"
	UpdateStatus = "update-status"
	// an update of the status that finishes the Job; it passes the points of update-status, too
	FinishJob      = "finish-job"
	GetJob         = "get-job"
	DeleteJob      = "delete-job"
	FindPod        = "find-pod"
	ListWorkloads  = "list-workloads"
	ListPodGroups  = "list-pod-groups"
	GetWorkload    = "get-workload"
	CreateWorkload = "create-workload"
	CreatePodGroup = "create-pod-group"
	GetPodGroup    = "get-pod-group"
	PatchWorkload  = "patch-workload"
	PatchPodGroup  = "patch-pod-group"

	CreateJob        = "create-job" // for a CronJob, as are the verbs after it
	DeleteRun        = "delete-run"
	UpdateCronStatus = "update-cronjob-status"
	GetCronJob       = "get-cronjob"
	GetRun           = "get-run"
)

var verbs = []string{
	CreatePod, DeletePod, PatchPod, UpdateStatus, FinishJob, GetJob, DeleteJob, FindPod,
	ListWorkloads, ListPodGroups, GetWorkload, CreateWorkload, CreatePodGroup,
	GetPodGroup, PatchWorkload, PatchPodGroup,
	CreateJob, DeleteRun, UpdateCronStatus, GetCronJob, GetRun,
}

// The verbs at the end of the names of points at requests to the destination of a copy.
const (
	GetObject       = "get-object"
	PutObject       = "put-object"
	ReplaceManifest = "replace-manifest"
	DeleteObject    = "delete-object"
)

var placeVerbs = []string{GetObject, PutObject, ReplaceManifest, DeleteObject}

// The steps of a refill (storing lost records in the log's stream again), in order. Packages takeover and replicating
// use the same names.
const (
	RefillMaking   = "making"
	RefillMade     = "made"
	RefillClaimed  = "claimed"
	RefillGrouped  = "grouped"
	RefillTaken    = "taken"
	RefillRecorded = "recorded"
)

var refillSteps = []string{RefillMaking, RefillMade, RefillClaimed, RefillGrouped, RefillTaken, RefillRecorded}

// Refill passes the point for one step of a refill (storing lost records in the log's stream again).
func (p *Points) Refill(step string) { p.pass(RefillStep + "." + step) }

// Names returns the names of all points.
func Names() []string {
	names := []string{AppendBefore, AppendAfter, DurableBefore, DurableAfter}
	for _, verb := range verbs {
		names = append(names, CallBefore+"."+verb, CallAfter+"."+verb)
	}
	for _, verb := range placeVerbs {
		names = append(names, PlaceBefore+"."+verb, PlaceAfter+"."+verb)
	}
	for _, step := range refillSteps {
		names = append(names, RefillStep+"."+step)
	}
	return append(names, OutcomeBefore, OutcomeAfter, SnapshotBefore, SnapshotAfter)
}

// Points counts how often one point of the program is passed, and ends or stops the process at the chosen count. The
// zero Points does nothing.
type Points struct {
	name  string
	count int
	end   func(reached string)

	mu     sync.Mutex
	passed int
}

// FromEnv returns the Points that the environment variable Env describes. If it is not set, they do nothing. A value
// that cannot be parsed is an error.
func FromEnv(getenv func(string) string) (*Points, error) {
	text := getenv(Env)
	if text == "" {
		return &Points{}, nil
	}
	if point, stops := strings.CutSuffix(text, stopSuffix); stops {
		return parse(point, stop)
	}
	return parse(text, kill)
}

// stopSuffix at the end of the value of Env stops the process at the point until it gets SIGCONT.
const stopSuffix = ":stop"

func parse(text string, end func(string)) (*Points, error) {
	name, number, ok := strings.Cut(text, ":")
	count, err := strconv.Atoi(number)
	switch {
	case !ok || err != nil || count < 1:
		return nil, fmt.Errorf("%s=%q: want NAME:COUNT, the count from 1", Env, text)
	case !slices.Contains(Names(), name):
		return nil, fmt.Errorf("%s=%q: there is no such point; there are %s", Env, text, strings.Join(Names(), ", "))
	}
	return &Points{name: name, count: count, end: end}, nil
}

// kill ends the process at once, like kill -9. It does not return.
func kill(reached string) {
	fmt.Fprintf(os.Stderr, "failpoint %s: killing process %d\n", reached, os.Getpid())
	if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
		panic(fmt.Sprintf("failpoint %s: kill: %v", reached, err)) // a process may always kill itself
	}
	select {} // the signal ends the process here
}

// stop stops the process like kill -STOP, and returns after SIGCONT. It waits for the signal, because the kernel stops
// one thread after the other, and this thread could otherwise continue for a moment.
func stop(reached string) {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	fmt.Fprintf(os.Stderr, "failpoint %s: stopping process %d\n", reached, os.Getpid())
	if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
		panic(fmt.Sprintf("failpoint %s: stop: %v", reached, err)) // a process may always stop itself
	}
	<-continued
}

// pass counts that the point of this name is passed, and ends or stops the process at the chosen count. The caller may
// hold locks; they do not matter when the process ends.
func (p *Points) pass(name string) {
	if name != p.name {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.passed++; p.passed == p.count {
		p.end(fmt.Sprintf("%s:%d", name, p.count))
	}
}
