package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// LeaseName is the default name of a controller's Lease.
const LeaseName = "jobledger"

// DropLease deletes the Lease of a namespace, as an operator does after the holder has ended and its log is lost. The
// next controller then starts at once, with a new log. It is no error if there is no Lease.
func DropLease(ctx context.Context, client kubernetes.Interface, namespace string) error {
	err := client.CoordinationV1().Leases(namespace).Delete(ctx, LeaseName, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete the Lease of %s: %w", namespace, err)
	}
	return nil
}
