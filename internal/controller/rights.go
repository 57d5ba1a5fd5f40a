package controller

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// lookAtRights finds out whether the cluster lets us list what we watch, and says so at once if it does not: client-go only asks again
// and again. It returns what is missing; empty when nothing is, or when the server does not answer.
func (c *controller) lookAtRights(ctx context.Context) (missing string) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	one := metav1.ListOptions{Limit: 1}
	_, jobs := c.cluster.Client.BatchV1().Jobs(c.settings.Namespace).List(ctx, one)
	_, pods := c.cluster.Client.CoreV1().Pods(c.settings.Namespace).List(ctx, one)
	var denied []string
	var words error
	for _, resource := range []struct {
		name string
		err  error
	}{{"jobs", jobs}, {"pods", pods}} {
		if apierrors.IsForbidden(resource.err) || apierrors.IsUnauthorized(resource.err) {
			denied, words = append(denied, resource.name), resource.err
		}
	}
	if len(denied) > 0 {
		where, role := "in all namespaces", "deploy/clusterrole.yaml"
		if c.settings.Namespace != "" {
			where = "in namespace " + c.settings.Namespace
		}
		missing = fmt.Sprintf("no right to list %s %s: give it the rights of %s (%v)", strings.Join(denied, " and "), where, role, words)
	}
	before := ""
	c.health.set(func(h *Health) { before, h.denied = h.denied, missing })
	switch {
	case missing != "" && before != missing:
		c.logger.Error("nothing can be done: " + missing)
	case missing == "" && before != "":
		c.logger.Info("the rights to list jobs and pods are there")
	}
	return missing
}
