package controller

import (
	"context"
	"fmt"
	"slices"
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
	var cronJobs error
	if c.settings.CronJobs {
		_, cronJobs = c.cluster.Client.BatchV1().CronJobs(c.settings.Namespace).List(ctx, one)
	}
	const usual = "deploy/base/clusterrole.yaml"
	var denied, roles []string
	var words error
	for _, resource := range []struct {
		name, role string
		err        error
	}{{"jobs", usual, jobs}, {"pods", usual, pods}, {"cronjobs", "deploy/cronjobs/clusterrole.yaml", cronJobs}} {
		if apierrors.IsForbidden(resource.err) || apierrors.IsUnauthorized(resource.err) {
			denied, roles, words = append(denied, resource.name), append(roles, resource.role), resource.err
		}
	}
	if len(denied) > 0 {
		where, role := "in all namespaces", strings.Join(slices.Compact(roles), " and ")
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
