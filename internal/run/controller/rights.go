package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// role returns the manifest with the rights that the controller needs. Observe mode names one without rights to write.
func (c *controller) role() string {
	if c.observes() {
		return "deploy/observe/clusterrole.yaml"
	}
	return "deploy/base/clusterrole.yaml"
}

// one asks for a single object, which suffices to see whether the right is there.
var one = metav1.ListOptions{Limit: 1}

// errWithoutCronJobs: the run only observes CronJobs, may not list them, and waits for them.
var errWithoutCronJobs = errors.New("started again, it goes on without CronJobs")

// lookAtRights finds out whether the cluster lets us list the resources that we watch, and says at once if it does not;
// client-go only retries. It returns the missing rights; empty if there are none or the server does not answer. An
// error ends the run: it waits for CronJobs that it can do without.
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
		if apierrors.IsForbidden(resource.err) {
			denied, words = append(denied, resource.name), resource.err
		}
	}
	if len(denied) > 0 {
		missing = fmt.Sprintf("no right to list %s %s: give it the rights of %s (%v)", strings.Join(denied, " and "), c.where(), c.role(), words)
	}
	if apierrors.IsUnauthorized(jobs) {
		missing = fmt.Sprintf("the API server does not accept the credentials: renew the token or the certificate of this account (%v)", jobs)
	}
	if c.runsCronJobs() && apierrors.IsForbidden(cronJobs) {
		missing += "; or leave CronJobs to the built-in controller, with --cronjobs=false"
	}
	if len(denied) == 1 && apierrors.IsForbidden(cronJobs) && !c.runsCronJobs() {
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

// settleCronJobs drops CronJobs from a run that only observes them if there is no right to list them: their history is
// not worth stopping the rest. It runs before the first record names the settings. If the server does not answer, or
// does not accept the credentials yet, it assumes that the right is there; [controller.lookAtRights] ends the run if it
// is not.
func (c *controller) settleCronJobs(ctx context.Context) {
	if c.runsCronJobs() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if denied := c.listCronJobs(ctx); apierrors.IsForbidden(denied) {
		c.settings.CronJobs = false
		c.logger.Warn(fmt.Sprintf("CronJobs are not recorded: no right to list cronjobs %s (%s gives it, --cronjobs=false asks for nothing)", c.where(), c.role()),
			"error", denied)
	}
}

// runsCronJobs reports whether this controller makes the Jobs of CronJobs, in place of the built-in CronJob controller.
func (c *controller) runsCronJobs() bool { return c.settings.RunsCronJobs() }

// listCronJobs lists one CronJob, if CronJobs are recorded, to check the right.
func (c *controller) listCronJobs(ctx context.Context) error {
	if !c.settings.CronJobs {
		return nil
	}
	_, err := c.cluster.Client.BatchV1().CronJobs(c.settings.Namespace).List(ctx, one)
	return err
}

// where returns the scope of the controller as words.
func (c *controller) where() string {
	if c.settings.Namespace != "" {
		return "in namespace " + c.settings.Namespace
	}
	return "in all namespaces"
}
