package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// role returns the name of the manifest with the rights that the controller needs. In observe mode this is a manifest
// without rights to write.
func (c *controller) role() string {
	if c.observes() {
		return "deploy/observe/clusterrole.yaml"
	}
	return "deploy/base/clusterrole.yaml"
}

// one limits a list request to a single object; this is enough to check for the right to list.
var one = metav1.ListOptions{Limit: 1}

// errWithoutCronJobs ends a run that only observes CronJobs and has no right to list them, because it would wait for
// them for ever. The next start leaves CronJobs out.
var errWithoutCronJobs = errors.New("started again, it goes on without CronJobs")

// lookAtRights returns the rights to list that this process lacks, and logs them at once; client-go would only retry.
// The text is empty if no right is missing or the server does not answer. The only error is errWithoutCronJobs, which
// must end the run.
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

// settleCronJobs leaves CronJobs out if this run only observes them and has no right to list them; everything else
// shall work without them. It runs before the first record, which names the settings. If the server does not answer, or
// does not accept the credentials yet, the right is taken to be there; if that is wrong, [controller.lookAtRights] ends
// the run.
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

// listCronJobs lists one CronJob to check that this process has the right to, if CronJobs are recorded.
func (c *controller) listCronJobs(ctx context.Context) error {
	if !c.settings.CronJobs {
		return nil
	}
	_, err := c.cluster.Client.BatchV1().CronJobs(c.settings.Namespace).List(ctx, one)
	return err
}

// where returns the words for the namespaces of this controller, such as "in all namespaces".
func (c *controller) where() string {
	if c.settings.Namespace != "" {
		return "in namespace " + c.settings.Namespace
	}
	return "in all namespaces"
}
