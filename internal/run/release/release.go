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

// Config says what is taken off. Client, Finalizers and Tell are required.
type Config struct {
	Client     kubernetes.Interface
	Namespace  string   // the only one; empty for all
	Finalizers []string // that are removed from pods
	DryRun     bool     // only look
	// Drained: a controller has run its Jobs to their end. Pods that hold a finalizer all the same are named, and keep it.
	Drained bool
	// Dynamic lists what makes Jobs, also of kinds that this program does not know. Served says whether the API server has
	// a version of a group; nil where all are asked for.
	Dynamic dynamic.Interface
	Served  func(schema.GroupVersion) bool
	// Ignore are Leases, NAMESPACE/NAME, whose holders are no controllers: someone wrote them who may write Leases in that
	// namespace.
	Ignore []string
	Tell   func(Item)        // is given each object, in order
	Note   func(text string) // is told what is waited for; may be nil

	kept map[string]string // namespaces whose pods are left, with the reason
}

// Item is an object and what becomes of it.
type Item struct {
	Kind      string    `json:"kind"` // Pod, Job, Lease, or one that makes Jobs
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid"`
	Action    string    `json:"action"`
	Result    string    `json:"result,omitempty"` // empty in a dry run
	Message   string    `json:"message,omitempty"`
}

// The actions.
const (
	RemoveFinalizer = "remove finalizer"
	LeftUnmanaged   = "left unmanaged" // no controller runs the Job from then on
	DeleteLease     = "delete"
	MakesJobs       = "makes Jobs of ours" // which no controller runs from then on
)

// The results.
const (
	Done    = "done"
	Gone    = "gone"    // another client was faster
	Failed  = "failed"  // the message says why
	Remains = "remains" // it was not touched; the message says why
	Left    = "left"    // it is another's to touch; the message says why
)

// Summary is what Run found and did.
type Summary struct {
	Pods    int `json:"pods"`
	Jobs    int `json:"jobs"`
	Leases  int `json:"leases"`
	Makers  int `json:"makers"`  // of Jobs of ours
	Remains int `json:"remains"` // pods that hold a finalizer, Leases, and makers, after all
}

// Run looks for what is ours, tells it and, unless it is a dry run, takes it off. Its error says that it could not
// look, or that a controller runs. What could not be taken off is told, and counted in the summary.
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

// releaseLeases deletes the Leases, but one that tenants of other namespaces share. pods says that some of our pods
// remain.
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

// refuseBeside returns an error that says who runs, if a controller does whose word is good for all that is looked at.
// One that may run by the word of a tenant is heeded in the tenant's namespace alone: kept has these, with what is said
// of their pods.
func (c *Config) refuseBeside(ctx context.Context, leases []*lease.Found) (kept map[string]string, err error) {
	beside := slices.Clone(leases)
	for _, namespace := range lease.OperatorNamespaces { // one of all namespaces runs the Jobs of this one too
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

// leaveLease tells of a Lease that speaks for one namespace: a user of that namespace may have written it.
func (c *Config) leaveLease(l *lease.Found) {
	object := l.Object()
	c.Tell(Item{
		Kind: "Lease", Namespace: object.Namespace, Name: object.Name, UID: object.UID, Action: DeleteLease, Result: Left,
		Message: "any user of its namespace may have written it: 'jobledger release --let-go -n " + object.Namespace + "' deletes it",
	})
}

// deleteLease deletes a Lease and reports whether it is gone, or will be. With others that remain it is kept: it says
// which log ran the Jobs, and whoever goes on with that log needs it.
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

// Finalizers are those that may be removed.
var Finalizers = []string{events.TrackingFinalizer, events.BuiltinTrackingFinalizer}
