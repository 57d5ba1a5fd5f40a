package lease

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

var getOptions = metav1.GetOptions{}

// lock reads and writes the Lease object for client-go's leader election. It replaces client-go's own lock, which
// cannot write annotations.
type lock struct {
	config Config
	hold   hold // the Lease is held until the renew deadline, counted from the start of the newest successful renewal
	beside *neighbours

	// Set before the election begins.
	bid       Bid
	refused   chan error           // receives, once, an error that ends the wait for the Lease
	outranked chan *OutrankedError // receives, once, the error that another controller outranks this one

	// asking is locked while the Lease is read or taken, because two goroutines do this (see takeFreed). Without it, an
	// answer from before this process took the Lease could look like a loss of the Lease.
	asking sync.Mutex

	mu          sync.Mutex
	object      *coordinationv1.Lease // the Lease as it was last read or written
	ours        bool
	yielded     *OutrankedError      // the error sent to outranked; when it is set, the Lease is not renewed any more
	deniedSince map[string]time.Time // by verb: since when all such requests have been denied
}

func (k *lock) leases() coordinationclient.LeaseInterface {
	return k.config.Client.CoordinationV1().Leases(k.config.Namespace)
}

// Get implements resourcelock.Interface: it reads the Lease. If another process holds the Lease, Admit decides whether
// to wait for it. If that process has certainly ended, Get tells client-go that the Lease is released.
func (k *lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	k.asking.Lock()
	defer k.asking.Unlock()
	object, err := k.leases().Get(ctx, UsualName, getOptions)
	if err := k.noteDenied("get", err); err != nil {
		return nil, nil, err
	}
	k.mu.Lock()
	k.object = object
	ours := k.ours
	k.mu.Unlock()
	record := resourcelock.LeaseSpecToLeaderElectionRecord(&object.Spec)
	other := record.HolderIdentity != k.config.Identity
	if ours && other {
		k.hold.end() // someone changed or deleted the Lease by hand, and another process holds it: send nothing more
	}
	if !ours && other {
		said := saidBy(object)
		if err := k.bid.Admit(said); err != nil {
			k.refuse(err)
			return nil, nil, err
		}
		if said.Holder != "" && said.ended(k.bid.Log()) {
			k.config.Logger.Info("the holder of the Lease has ended: its log is locked here", "lease", k.Describe(), "holder", said.Holder)
			record.HolderIdentity = ""
		}
	}
	text, err := json.Marshal(record)
	return record, text, err
}

// Create implements resourcelock.Interface: it creates the Lease, and its namespace if necessary.
func (k *lock) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	k.asking.Lock()
	defer k.asking.Unlock()
	object := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: k.config.Namespace, Name: UsualName},
		Spec:       resourcelock.LeaderElectionRecordToLeaseSpec(&r),
	}
	again := k.isOurs() // true if the Lease was deleted while this process held it
	if !again {
		if err := k.ready(Said{}); err != nil {
			return err
		}
	}
	k.beside.takenBy(0)
	k.annotate(object)
	began := k.hold.now()
	made, err := k.leases().Create(ctx, object, metav1.CreateOptions{})
	if noNamespace(err) {
		if err = k.makeNamespace(ctx); err == nil {
			began = k.hold.now()
			made, err = k.leases().Create(ctx, object, metav1.CreateOptions{})
		}
	}
	if err := k.written("create", made, err, began); err != nil {
		return err
	}
	k.beside.takenBy(version(made))
	return k.yieldTo(ctx, again)
}

// Update implements resourcelock.Interface: it writes r to the Lease, unless another controller outranks this one.
// If this cannot be checked, the renewal counts as failed. So our work ends within the renew deadline after another
// controller took a Lease that outranks ours, even if the API server is slow; the other controller waits longer than
// that. A renewal that comes too late counts as taking the Lease again, because another process may have led in
// between.
func (k *lock) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	k.asking.Lock()
	defer k.asking.Unlock()
	ours := k.isOurs()
	began := k.hold.now()
	late := ours && !k.hold.holds()
	if err := k.yieldTo(ctx, late); err != nil {
		return err
	}
	if ours && !late {
		return k.write(ctx, r, began)
	}
	if err := k.ready(k.said()); err != nil {
		return err
	}
	k.beside.takenBy(0)
	if err := k.write(ctx, r, began); err != nil {
		return err
	}
	k.mu.Lock()
	object := k.object
	k.mu.Unlock()
	k.beside.takenBy(version(object))
	return k.yieldTo(ctx, late)
}

// ready returns why the Lease may not be taken now; nil if it may.
func (k *lock) ready(before Said) error {
	if k.bid.Ready == nil {
		return nil
	}
	return k.bid.Ready(before)
}

// said returns what the Lease said when it was last read.
func (k *lock) said() Said {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.object == nil {
		return Said{}
	}
	return saidBy(k.object)
}

// yieldTo returns an error, and ends our work, if another controller outranks this one. anew is true if this process
// takes its Lease again while it leads.
func (k *lock) yieldTo(ctx context.Context, anew bool) error {
	other, err := k.beside.come(ctx, anew)
	if err != nil {
		return err
	}
	if other != nil {
		k.yield(other)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.yielded != nil {
		return k.yielded
	}
	return nil
}

func (k *lock) isOurs() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ours
}

// version returns the Lease's resourceVersion as a number; 0 if it is not a number. Versions show the order of the API
// server's writes.
func version(object *coordinationv1.Lease) uint64 {
	v, _ := strconv.ParseUint(object.ResourceVersion, 10, 64)
	return v
}

func (k *lock) annotate(object *coordinationv1.Lease) {
	annotate(object, &k.config, k.bid.Log(), k.beside.takenAt())
}

// yield ends all work that needs the Lease, at once and for good, because the holder of above outranks this process.
func (k *lock) yield(above *Said) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.yielded != nil {
		return
	}
	k.yielded = &OutrankedError{By: *above}
	k.hold.end()
	k.outranked <- k.yielded // does not block: only one error is sent, into a buffer of one
}

// write writes r to the Lease. If that succeeds, the Lease is held from the time began on, when the request was sent.
func (k *lock) write(ctx context.Context, r resourcelock.LeaderElectionRecord, began instant) error {
	object, err := k.put(ctx, r)
	return k.written("update", object, err, began)
}

// put writes r to the Lease; the caller then decides from when on the Lease is held.
func (k *lock) put(ctx context.Context, r resourcelock.LeaderElectionRecord) (*coordinationv1.Lease, error) {
	k.mu.Lock()
	object := k.object
	if object != nil {
		object = object.DeepCopy()
		object.Spec = resourcelock.LeaderElectionRecordToLeaseSpec(&r)
	}
	k.mu.Unlock()
	if object == nil {
		return nil, errors.New("update a Lease that was not read")
	}
	k.annotate(object)
	return k.leases().Update(ctx, object, metav1.UpdateOptions{})
}

func (k *lock) written(verb string, object *coordinationv1.Lease, err error, began instant) error {
	if err := k.noteDenied(verb, err); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.object, k.ours = object, true
	k.hold.renew(began, k.config.RenewDeadline)
	return nil
}

// release releases the Lease if this process holds it: it removes the holder.
func (k *lock) release(ctx context.Context) error {
	object, err := k.leases().Get(ctx, UsualName, getOptions)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	record := resourcelock.LeaseSpecToLeaderElectionRecord(&object.Spec)
	if record.HolderIdentity != k.config.Identity {
		return nil
	}
	k.mu.Lock()
	k.object = object
	k.mu.Unlock()
	k.hold.end()
	k.beside.takenBy(0)
	now := metav1.Now()
	_, err = k.put(ctx, resourcelock.LeaderElectionRecord{
		LeaderTransitions: record.LeaderTransitions, LeaseDurationSeconds: 1, RenewTime: now, AcquireTime: now,
	})
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ours = false
	k.hold.end() // again, because a renewal may have succeeded since the Lease was read
	return err
}

// RecordEvent creates a Kubernetes Event that says who leads, as kube-controller-manager does (O-020). It does not wait
// for the answer, and does not try again.
func (k *lock) RecordEvent(what string) {
	k.mu.Lock()
	object := k.object
	k.mu.Unlock()
	if object == nil {
		return
	}
	now := metav1.Now()
	e := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{GenerateName: UsualName + ".", Namespace: k.config.Namespace},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: coordinationv1.SchemeGroupVersion.String(), Kind: "Lease", Namespace: object.Namespace, Name: object.Name,
			UID: object.UID, ResourceVersion: object.ResourceVersion,
		},
		Type: corev1.EventTypeNormal, Reason: "LeaderElection", Message: k.config.Identity + " " + what,
		Source: corev1.EventSource{Component: "jobledger"}, ReportingController: "jobledger",
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}
	go func() { // ends within the renew deadline
		ctx, cancel := context.WithTimeout(context.Background(), k.config.RenewDeadline)
		defer cancel()
		if _, err := k.config.Client.CoreV1().Events(k.config.Namespace).Create(ctx, e, metav1.CreateOptions{}); err != nil {
			k.config.Logger.Warn("Kubernetes Event is lost", "lease", k.Describe(), "event", what, "error", err)
		}
	}()
}

// Identity returns the name under which this process holds the Lease.
func (k *lock) Identity() string { return k.config.Identity }

// Describe returns the name of the Lease, as NAMESPACE/NAME.
func (k *lock) Describe() string { return k.config.Namespace + "/" + UsualName }
