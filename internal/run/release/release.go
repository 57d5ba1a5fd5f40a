package release

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/lease"
)

// Config says what to remove. Client, Finalizers and Tell are required.
type Config struct {
	Client     kubernetes.Interface
	Namespace  string   // the only namespace to release; empty for all
	Finalizers []string // finalizers to remove from pods
	DryRun     bool     // only read, and report what would be done
	// Drained says that a controller has finished its Jobs (--drain), and removes the finalizers itself. Pods that
	// still have a finalizer are reported, and keep it.
	Drained bool
	// Dynamic lists the objects that cause new Jobs for our controller, including kinds unknown to this program. Served
	// reports whether the API server has a version of a group; if nil, every version is tried.
	Dynamic dynamic.Interface
	Served  func(schema.GroupVersion) bool
	// Ignore lists Leases, as NAMESPACE/NAME, whose holders are not controllers: another user who may write Leases in
	// that namespace wrote them.
	Ignore []string
	Tell   func(Item)        // called for each object, in order
	Note   func(text string) // called while Run waits, with the reason; may be nil

	kept map[string]string // reason why the pods of a namespace are not changed, by namespace
}

// Item is an object in the report, and what was done with it.
type Item struct {
	Kind      string    `json:"kind"` // Pod, Job, Lease, or a kind that causes new Jobs
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid"`
	Action    string    `json:"action"`
	Result    string    `json:"result,omitempty"` // empty in a dry run
	Message   string    `json:"message,omitempty"`
}

// The values of Item.Action.
const (
	RemoveFinalizer = "remove finalizer"
	LeftUnmanaged   = "left unmanaged" // after the release no controller runs this Job
	DeleteLease     = "delete"
	MakesJobs       = "makes Jobs of ours" // the object causes new Jobs that no controller will run
)

// The values of Item.Result.
const (
	Done    = "done"
	Gone    = "gone"    // another client deleted the object first
	Failed  = "failed"  // the message says why
	Remains = "remains" // the object was not changed; the message says why
	Left    = "left"    // another user has to remove it; the message says why
)

// Summary counts what Run found and did.
type Summary struct {
	Pods    int `json:"pods"`
	Jobs    int `json:"jobs"`
	Leases  int `json:"leases"`
	Makers  int `json:"makers"`  // objects that cause new Jobs for our controller
	Remains int `json:"remains"` // pods with a finalizer, Leases, and makers of Jobs that are left at the end
}

// Run finds what Jobledger left in the cluster, reports it and, unless it is a dry run, removes it. It returns an error
// if it could not list everything, or if a controller runs. Objects that could not be removed are reported, and counted
// in the summary.
func Run(ctx context.Context, c Config) (Summary, error) {
	if c.Note == nil {
		c.Note = func(string) {}
	}
	leases, err := lease.Find(ctx, c.Client, c.Namespace)
	if err != nil {
		return Summary{}, err
	}
	if !c.DryRun {
		if c.kept, err = c.refuseBeside(ctx, leases); err != nil {
			return Summary{}, err
		}
	}
	makers, err := c.makers(ctx)
	if err != nil {
		return Summary{}, err
	}
	all, err := c.jobs(ctx)
	if err != nil {
		return Summary{}, err
	}
	held, err := c.heldPods(ctx, all.counted)
	if err != nil {
		return Summary{}, err
	}
	abandoned := c.abandoned(all, held)
	s := Summary{Pods: len(held), Jobs: len(abandoned), Makers: len(makers)}
	if s.Remains, err = c.releasePods(ctx, held, all.counted); err != nil {
		return s, err
	}
	for i := range abandoned {
		c.Tell(abandoned[i])
	}
	pods := s.Remains > 0
	for i := range makers {
		if makers[i].Result == Remains {
			s.Remains++
		}
		c.Tell(makers[i])
	}
	c.releaseLeases(ctx, leases, pods, &s)
	return s, nil
}

// releaseLeases deletes the Leases of controllers. It keeps a Lease that a tenant may have written, unless the release
// is for that tenant's namespace. pods is true if some pods keep their finalizer.
func (c *Config) releaseLeases(ctx context.Context, leases []*lease.Found, pods bool, s *Summary) {
	for _, l := range leases {
		if judged := l.Judged(); judged.Word == lease.Tenants && c.Namespace == "" {
			c.leaveLease(l)
			continue
		}
		s.Leases++
		if !c.deleteLease(ctx, l, pods) {
			s.Remains++
		}
	}
}

// refuseBeside returns an error if a controller is running, according to a fully trusted Lease. A Lease that a tenant
// may have written only protects the pods of the tenant's namespace: kept has these namespaces, with the message for
// their pods.
func (c *Config) refuseBeside(ctx context.Context, leases []*lease.Found) (kept map[string]string, err error) {
	beside := slices.Clone(leases)
	// If only one namespace is released, a controller of all namespaces may run its Jobs, too: read its Lease.
	for _, namespace := range lease.OperatorNamespaces {
		if c.Namespace == "" || c.Namespace == namespace {
			continue
		}
		more, err := lease.Read(ctx, c.Client, namespace)
		if err != nil && !apierrors.IsForbidden(err) {
			return nil, err
		}
		if err == nil && more != nil {
			beside = append(beside, more)
		}
	}
	beside = slices.DeleteFunc(beside, func(l *lease.Found) bool {
		said := l.Judged()
		return !said.Runs(cmp.Or(c.Namespace, lease.Everywhere)) || slices.Contains(c.Ignore, said.Lease) && said.Word == lease.Tenants
	})
	for _, l := range beside {
		said := l.Judged()
		c.Note(fmt.Sprintf("Lease %s is held by %s: waiting up to %s to see whether that still runs", said.Lease, said.Holder, said.Patience))
	}
	living, err := lease.Living(ctx, beside)
	if err != nil {
		return nil, err
	}
	kept = map[string]string{}
	for _, l := range living {
		said := l.Judged()
		runs := fmt.Sprintf("%s holds the Lease %s and renews it", said.Holder, said.Lease)
		switch {
		case said.Word == lease.Operators:
			return nil, fmt.Errorf("a controller runs: %s: stop it first", runs)
		case c.Namespace != "":
			return nil, fmt.Errorf("a controller runs: %s: stop it first; if it is none, as any user may have written that Lease who may write "+
				"Leases there, give --ignore-lease=%s", runs, said.Lease)
		}
		kept[l.Object().Namespace] = fmt.Sprintf("%s: stop that controller, or give --ignore-lease=%s if it is none", runs, said.Lease)
	}
	return kept, nil
}

// leaveLease reports a Lease without deleting it. It is for a Lease that a user of its namespace may have written.
func (c *Config) leaveLease(l *lease.Found) {
	object := l.Object()
	c.Tell(Item{
		Kind: "Lease", Namespace: object.Namespace, Name: object.Name, UID: object.UID, Action: DeleteLease, Result: Left,
		Message: "any user of its namespace may have written it: 'jobledger release --let-go -n " + object.Namespace + "' deletes it",
	})
}

// deleteLease deletes a Lease, and reports whether it is gone; in a dry run, whether it would be. If others is true,
// pods keep their finalizer, and the Lease is not deleted: it names the log that a controller needs to finish these
// pods.
func (c *Config) deleteLease(ctx context.Context, l *lease.Found, others bool) bool {
	object := l.Object()
	item := Item{Kind: "Lease", Namespace: object.Namespace, Name: object.Name, UID: object.UID, Action: DeleteLease}
	defer func() { c.Tell(item) }()
	said := l.Judged()
	if id := said.LogID; id != "" {
		item.Message = "log " + id
	}
	switch {
	case c.DryRun:
		if said.Holder != "" {
			item.Message = "held by " + said.Holder
		}
		return true
	case others:
		item.Result, item.Message = Remains, "kept, because pods hold a finalizer"
		return false
	}
	if err := l.Delete(ctx); err != nil {
		item.Result, item.Message = Failed, err.Error()
		return false
	}
	item.Result = Done
	return true
}

// Finalizers lists the finalizers that may be removed.
var Finalizers = []string{events.TrackingFinalizer, events.BuiltinTrackingFinalizer}
