package lease

import (
	"context"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/jobledger/jobledger/events"
)

// NameLog writes the ID of a log that has no record yet into the Lease, without taking the Lease. If the Lease names a
// log already, it changes nothing. It returns what the Lease then says. So if several processes call NameLog, all get
// the same log.
func (l *Lease) NameLog(ctx context.Context, id events.Identity) (Said, error) {
	object := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: l.config.Namespace, Name: UsualName}}
	now := metav1.Now()
	object.Spec = resourcelock.LeaderElectionRecordToLeaseSpec(&resourcelock.LeaderElectionRecord{
		LeaseDurationSeconds: 1, AcquireTime: now, RenewTime: now,
	})
	annotate(object, &l.config, Log{Identity: id}, 0)
	leases := l.lock.leases()
	made, err := leases.Create(ctx, object, metav1.CreateOptions{})
	if noNamespace(err) {
		if err = l.lock.makeNamespace(ctx); err == nil {
			made, err = leases.Create(ctx, object, metav1.CreateOptions{})
		}
	}
	if apierrors.IsAlreadyExists(err) {
		if made, err = leases.Get(ctx, UsualName, getOptions); err == nil && saidBy(made).LogID == "" {
			annotate(made, &l.config, Log{Identity: id}, 0)
			made, err = leases.Update(ctx, made, metav1.UpdateOptions{})
		}
	}
	if err != nil {
		return Said{}, fmt.Errorf("name the log in Lease %s: %w", l.lock.Describe(), err)
	}
	return saidBy(made), nil
}
