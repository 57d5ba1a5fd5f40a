package lease

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Beside looks for who holds another Lease of that name and runs Jobs that are also ours: those of all namespaces beside those
// of one. It looks where this user may: in all namespaces, else in the one where a Lease for all of them is by default. It
// returns nil when there is nobody, or what the Lease says of who is there. One whose holder was killed is not renewed;
// Beside waits for as long as that takes to find out, and not twice for the same. Ctx ends it, with its error.
func (l *Lease) Beside(ctx context.Context) (*Said, error) {
	for told := (time.Time{}); ; {
		leases, err := l.others(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil && time.Since(told) >= l.config.Duration:
			l.config.Logger.Warn("cannot look for other controllers yet", "error", err)
			told = time.Now()
		case err == nil:
			found, wait := l.judge(leases)
			if found != nil || !wait {
				return found, nil
			}
		}
		select {
		case <-time.After(l.config.RetryPeriod):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// others are the Leases of that name that may be read, as far as they are not ours.
func (l *Lease) others(ctx context.Context) ([]coordinationv1.Lease, error) {
	client := l.config.Client.CoordinationV1()
	list, err := client.Leases(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + l.config.Name})
	if err == nil {
		return list.Items, nil
	}
	if !denied(err) || l.config.Namespace == DefaultNamespace {
		return nil, exceptDenied(err)
	}
	object, err := client.Leases(DefaultNamespace).Get(ctx, l.config.Name, getOptions)
	if err == nil {
		return []coordinationv1.Lease{*object}, nil
	}
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return nil, exceptDenied(err)
}

func exceptDenied(err error) error {
	if denied(err) {
		return nil // what may not be read is not looked at
	}
	return err
}

// sighting is who held a Lease, renewed at that time by their clock, and when that was first seen by ours.
type sighting struct {
	holder  string
	renewed time.Time
	seen    time.Time
}

// judge finds a holder beside us that lives: it has renewed its Lease since we first saw it. One that has not for as long as
// its Lease is good for has ended. Until one of the two is known there is a reason to wait.
func (l *Lease) judge(leases []coordinationv1.Lease) (found *Said, wait bool) {
	for i := range leases {
		object := &leases[i]
		said := saidBy(object)
		if object.Namespace == l.config.Namespace || said.Holder == "" || !overlap(said.Scope, l.config.scope()) {
			continue
		}
		first, known := l.beside[said.Lease]
		switch {
		case !known:
			l.beside[said.Lease] = sighting{said.Holder, said.Renewed, time.Now()}
			l.config.Logger.Info("another Lease is held for Jobs that are also ours: finding out whether its holder lives",
				"lease", said.Lease, "holder", said.Holder)
			wait = true
		case first.holder != said.Holder || !first.renewed.Equal(said.Renewed):
			return &said, false
		case time.Since(first.seen) <= min(lasts(object), l.longest()):
			wait = true
		}
	}
	return nil, wait
}

// overlap reports whether two scopes have Jobs in common. One that is not known has none.
func overlap(a, b string) bool {
	return a != "" && (a == b || a == Everywhere || b == Everywhere)
}

// longest is for how long a Lease beside ours is waited for, whatever it says: anybody who may write Leases in a namespace can make one
// that is good for decades.
func (l *Lease) longest() time.Duration { return max(time.Minute, 4*l.config.Duration) }

func lasts(object *coordinationv1.Lease) time.Duration {
	if s := object.Spec.LeaseDurationSeconds; s != nil {
		return time.Duration(*s) * time.Second
	}
	return DefaultDuration
}
