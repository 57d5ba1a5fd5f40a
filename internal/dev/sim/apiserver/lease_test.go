package apiserver

import (
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func testLease() *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "ours"},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: new("a"), LeaseDurationSeconds: new(int32(15))},
	}
}

func TestALeaseIsCreatedRenewedAndDeleted(t *testing.T) {
	s := newServer(1)
	c := s.Client("test")
	_, err := c.GetLease(ctx, "default", "ours")
	wantErr(t, apierrors.IsNotFound, err)
	first := must(c.CreateLease(ctx, testLease()))(t)
	_, err = c.CreateLease(ctx, testLease())
	wantErr(t, apierrors.IsAlreadyExists, err)
	renewed := first.DeepCopy()
	renewed.Spec.HolderIdentity = new("b")
	renewed = must(c.UpdateLease(ctx, renewed))(t)
	if found := must(c.GetLease(ctx, "default", "ours"))(t); *found.Spec.HolderIdentity != "b" || found.ResourceVersion != renewed.ResourceVersion {
		t.Errorf("found %+v", found)
	}
	_, err = c.UpdateLease(ctx, first)
	wantErr(t, apierrors.IsConflict, err)
	recreated := renewed.DeepCopy()
	recreated.UID, recreated.ResourceVersion = "another", ""
	_, err = c.UpdateLease(ctx, recreated)
	wantErr(t, apierrors.IsConflict, err)
	renewed.Spec.LeaseDurationSeconds = new(int32(0))
	_, err = c.UpdateLease(ctx, renewed)
	wantErr(t, apierrors.IsInvalid, err)
	wantErr(t, apierrors.IsConflict, c.Delete(ctx, Leases, "default", "ours", DeleteOptions{ResourceVersion: first.ResourceVersion}))
	ok(t, c.Delete(ctx, Leases, "default", "ours", DeleteOptions{UID: first.UID, ResourceVersion: renewed.ResourceVersion}))
	_, err = c.GetLease(ctx, "default", "ours")
	wantErr(t, apierrors.IsNotFound, err)
}

// TestATouchedLeaseIsRenewed: Touch sets a new renew time.
func TestATouchedLeaseIsRenewed(t *testing.T) {
	s := newServer(1)
	c := s.Client("test")
	lease := must(c.CreateLease(ctx, testLease()))(t)
	s.Touch("a", Leases, "default", "ours")
	found := must(c.GetLease(ctx, "default", "ours"))(t)
	if lease.Spec.RenewTime != nil || found.Spec.RenewTime == nil || !found.Spec.RenewTime.Time.Equal(s.Clock().Now()) {
		t.Errorf("renewed at %v, then at %v", lease.Spec.RenewTime, found.Spec.RenewTime)
	}
}
