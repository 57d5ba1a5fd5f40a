package lease

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strconv"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/jobledger/jobledger/events"
)

// The annotations of the Lease.
const (
	LogIDAnnotation = "jobledger.dev/log-id"
	EpochAnnotation = "jobledger.dev/log-epoch"
	HeadAnnotation  = "jobledger.dev/log-head" // durable when the Lease was renewed
)

// Log is what a Lease says of a log.
type Log struct {
	events.Identity
	Head events.Sequence
}

func logOf(annotations map[string]string) Log {
	var l Log
	l.LogID = annotations[LogIDAnnotation]
	l.Epoch, _ = strconv.ParseUint(annotations[EpochAnnotation], 10, 64) // what somebody else wrote there says nothing
	head, _ := strconv.ParseUint(annotations[HeadAnnotation], 10, 64)
	l.Head = events.Sequence(head)
	return l
}

var getOptions = metav1.GetOptions{}

// lock is the Lease object as client-go's election wants it. client-go's own cannot carry annotations.
type lock struct {
	config Config
	hold   hold // until the renew deadline after the newest renewal that succeeded began

	mu     sync.Mutex
	object *coordinationv1.Lease // as last read or written
	found  Log                   // what it said before it was ours
	ours   bool
	log    func() Log // what it is to say; nil while nobody said
}

func (k *lock) leases() coordinationclient.LeaseInterface {
	return k.config.Client.CoordinationV1().Leases(k.config.Namespace)
}

// Get is described by resourcelock.Interface, like the methods that follow.
func (k *lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	object, err := k.leases().Get(ctx, k.config.Name, getOptions)
	if err != nil {
		return nil, nil, err
	}
	record := resourcelock.LeaseSpecToLeaderElectionRecord(&object.Spec)
	text, err := json.Marshal(record)
	if err != nil {
		return nil, nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.object = object
	if !k.ours {
		k.found = logOf(object.Annotations)
	}
	return record, text, nil
}

// Create makes the Lease.
func (k *lock) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	began := time.Now()
	object, err := k.leases().Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: k.config.Namespace, Name: k.config.Name},
		Spec:       resourcelock.LeaderElectionRecordToLeaseSpec(&r),
	}, metav1.CreateOptions{})
	return k.written(object, err, began)
}

// Update writes the Lease as it was last seen, with another record.
func (k *lock) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	k.mu.Lock()
	object := k.object
	if object != nil {
		object = object.DeepCopy()
		object.Spec = resourcelock.LeaderElectionRecordToLeaseSpec(&r)
		k.annotateLocked(object)
	}
	k.mu.Unlock()
	if object == nil {
		return errors.New("update a Lease that was not read")
	}
	began := time.Now()
	object, err := k.leases().Update(ctx, object, metav1.UpdateOptions{})
	return k.written(object, err, began)
}

func (k *lock) annotateLocked(object *coordinationv1.Lease) {
	if k.log == nil {
		return
	}
	l := k.log()
	if object.Annotations == nil {
		object.Annotations = map[string]string{}
	}
	maps.Copy(object.Annotations, map[string]string{
		LogIDAnnotation: l.LogID,
		EpochAnnotation: strconv.FormatUint(l.Epoch, 10),
		HeadAnnotation:  strconv.FormatUint(uint64(l.Head), 10),
	})
}

func (k *lock) written(object *coordinationv1.Lease, err error, began time.Time) error {
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.object, k.ours = object, true
	k.hold.renew(began.Add(k.config.RenewDeadline))
	return nil
}

// release gives the Lease back if it is ours.
func (k *lock) release(ctx context.Context) error {
	record, _, err := k.Get(ctx)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case record.HolderIdentity != k.config.Identity:
		return nil
	}
	k.hold.end()
	now := metav1.Now()
	err = k.Update(ctx, resourcelock.LeaderElectionRecord{
		LeaderTransitions: record.LeaderTransitions, LeaseDurationSeconds: 1, RenewTime: now, AcquireTime: now,
	})
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ours = false
	k.hold.end()
	return err
}

// RecordEvent tells users, as kube-controller-manager does (O-020). It is best effort, and nobody waits for it.
func (k *lock) RecordEvent(what string) {
	k.mu.Lock()
	object := k.object
	k.mu.Unlock()
	if object == nil {
		return
	}
	now := metav1.Now()
	e := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{GenerateName: k.config.Name + ".", Namespace: k.config.Namespace},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: coordinationv1.SchemeGroupVersion.String(), Kind: "Lease", Namespace: object.Namespace, Name: object.Name,
			UID: object.UID, ResourceVersion: object.ResourceVersion,
		},
		Type: corev1.EventTypeNormal, Reason: "LeaderElection", Message: k.config.Identity + " " + what,
		Source: corev1.EventSource{Component: "jobledger"}, ReportingController: "jobledger",
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}
	go func() { // ends within the time-out
		ctx, cancel := context.WithTimeout(context.Background(), k.config.RenewDeadline)
		defer cancel()
		if _, err := k.config.Client.CoreV1().Events(k.config.Namespace).Create(ctx, e, metav1.CreateOptions{}); err != nil {
			k.config.Logger.Warn("Kubernetes Event is lost", "lease", k.Describe(), "event", what, "error", err)
		}
	}()
}

// Identity is that of this process.
func (k *lock) Identity() string { return k.config.Identity }

// Describe names the Lease.
func (k *lock) Describe() string { return k.config.Namespace + "/" + k.config.Name }

// carry makes the Lease say which log is written. It does not renew it.
func (k *lock) carry(ctx context.Context, log func() Log) error {
	ctx, cancel := context.WithTimeout(ctx, k.config.RetryPeriod)
	defer cancel()
	k.mu.Lock()
	k.log = log
	object := k.object.DeepCopy()
	k.annotateLocked(object)
	k.mu.Unlock()
	object, err := k.leases().Update(ctx, object, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) {
		return nil // with a renewal, which says it, or the next one does
	}
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.object = object
	return nil
}

// before is what the Lease said before it was ours.
func (k *lock) before() Log {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.found
}
