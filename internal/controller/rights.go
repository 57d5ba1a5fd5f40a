package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// usualRole gives the rights that are asked for here.
const usualRole = "deploy/base/clusterrole.yaml"

// one asks for one object: it is enough to see whether there is a right.
var one = metav1.ListOptions{Limit: 1}

// errWithoutCronJobs: the run waits for CronJobs that it may not list, and that it would only look at.
var errWithoutCronJobs = errors.New("started again, it goes on without CronJobs")

// lookAtRights finds out whether the cluster lets us list what we watch, and says so at once if it does not: client-go only asks again
// and again. It returns what is missing; empty when nothing is, or when the server does not answer. The error ends the run: it waits
// for CronJobs that it need not have.
func (c *controller) lookAtRights(ctx context.Context) (missing string, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	_, jobs := c.cluster.Client.BatchV1().Jobs(c.settings.Namespace).List(ctx, one)
	_, pods := c.cluster.Client.CoreV1().Pods(c.settings.Namespace).List(ctx, one)
	cronJobs := c.listCronJobs(ctx)
	var denied []string
	var words error
	for _, resource := range []struct {
		name string
		err  error
	}{{"jobs", jobs}, {"pods", pods}, {"cronjobs", cronJobs}} {
		if forbidden(resource.err) {
			denied, words = append(denied, resource.name), resource.err
		}
	}
	if len(denied) > 0 {
		missing = fmt.Sprintf("no right to list %s %s: give it the rights of %s (%v)", strings.Join(denied, " and "), c.where(), usualRole, words)
	}
	if c.runsCronJobs() && forbidden(cronJobs) {
		missing += "; or leave CronJobs to the built-in controller, with --cronjobs=false"
	}
	if len(denied) == 1 && forbidden(cronJobs) && !c.runsCronJobs() {
		return missing, fmt.Errorf("%s; %w", missing, errWithoutCronJobs)
	}
	before := ""
	c.health.set(func(h *Health) { before, h.denied = h.denied, missing })
	switch {
	case missing != "" && before != missing:
		c.logger.Error("nothing can be done: " + missing)
	case missing == "" && before != "":
		c.logger.Info("the rights to list jobs and pods are there")
	}
	return missing, nil
}

// settleCronJobs leaves CronJobs out of a run that would only look at them, where there is no right to list them: their history is not
// worth that nothing else is done. It is asked before the run says in its first record with which settings it works. Of a server that
// does not answer it is supposed that it will give the right; [controller.lookAtRights] ends the run when it does not.
func (c *controller) settleCronJobs(ctx context.Context) {
	if c.runsCronJobs() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if denied := c.listCronJobs(ctx); forbidden(denied) {
		c.settings.CronJobs = false
		c.logger.Warn(fmt.Sprintf("CronJobs are not recorded: no right to list cronjobs %s (%s gives it, --cronjobs=false asks for nothing)", c.where(), usualRole),
			"error", denied)
	}
}

// listCronJobs asks for one CronJob, if CronJobs are to be recorded.
func (c *controller) listCronJobs(ctx context.Context) error {
	if !c.settings.CronJobs {
		return nil
	}
	_, err := c.cluster.Client.BatchV1().CronJobs(c.settings.Namespace).List(ctx, one)
	return err
}

func forbidden(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) }

// where is where the controller works.
func (c *controller) where() string {
	if c.settings.Namespace != "" {
		return "in namespace " + c.settings.Namespace
	}
	return "in all namespaces"
}
