package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// LeaseName is the name of the Lease of every controller that is given no other.
const LeaseName = "jobledger"

// DropLease deletes the Lease of a namespace, as an operator who knows that its holder has ended and that its log is
// lost: the next controller begins at once, with another log. No Lease is no error.
func DropLease(ctx context.Context, client kubernetes.Interface, namespace string) error {
	err := client.CoordinationV1().Leases(namespace).Delete(ctx, LeaseName, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete the Lease of %s: %w", namespace, err)
	}
	return nil
}
