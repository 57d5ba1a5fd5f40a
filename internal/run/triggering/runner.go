package triggering

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/jobledger/jobledger/internal/run/lease"
)

// errDead is returned if the controller that holds the Lease does not renew it.
var errDead = errors.New("the controller that runs the CronJobs does not run now")

// places returns the namespaces in which to look for the Lease of the controller that runs the CronJobs of c.Namespace.
// The first Lease that fits and is being renewed counts.
func (c *Config) places() []string {
	places := slices.Clone(lease.OperatorNamespaces)
	if !slices.Contains(places, c.Namespace) {
		places = append(places, c.Namespace)
	}
	return places
}

// runner returns the controller of ours that runs the CronJobs of the namespace (holder), and the name of its Lease.
// Its error says which other controller runs them, as far as that is known, and what the user can do.
func (c *Config) runner(ctx context.Context) (holder, name string, err error) {
	var denied []string
	var reason, dead error
	without := "" // holder of a Lease that runs the namespace's Jobs, but not its CronJobs
	for _, namespace := range c.places() {
		l, err := lease.Read(ctx, c.Client, namespace)
		if apierrors.IsForbidden(err) {
			denied, reason = append(denied, named(namespace)), err
			continue
		}
		if err != nil {
			return "", "", err
		}
		if l == nil {
			continue
		}
		said := l.Judged()
		if !said.Runs(c.Namespace) {
			continue
		}
		if !said.Cron {
			without = said.Holder
			continue
		}
		// If this holder does not renew its Lease, a holder of a Lease in the next namespace may run the CronJobs.
		if err := c.lives(ctx, l); errors.Is(err, errDead) {
			dead = cmp.Or(dead, err)
			continue
		} else if err != nil {
			return "", "", err
		}
		return l.Judged().Holder, said.Lease, nil
	}
	switch {
	case dead != nil:
		return "", "", dead
	case without != "":
		return "", "", fmt.Errorf("the controller %s does not run CronJobs, so the built-in controller does, which knows no trigger; %s", without, c.instead())
	case reason != nil:
		return "", "", fmt.Errorf("it cannot be told who runs the CronJobs of namespace %s: you may not read the Lease %s (deploy/trigger/role.yaml gives that right): %w",
			c.Namespace, strings.Join(denied, " or "), reason)
	}
	return "", "", fmt.Errorf("no controller of Jobledger runs the CronJobs of namespace %s, by the Lease %s; where the built-in one does, %s",
		c.Namespace, c.leases(), c.instead())
}

// instead is for users of the built-in controller: it says which kubectl command makes a Job.
func (c *Config) instead() string {
	return fmt.Sprintf("'kubectl create job NAME --from=cronjob/%s -n %s' makes a Job at once, whatever the concurrency policy says", c.Name, c.Namespace)
}

func (c *Config) leases() string {
	var names []string
	for _, namespace := range c.places() {
		names = append(names, named(namespace))
	}
	return strings.Join(names, " or ")
}

// named returns the name of the Lease in this namespace.
func named(namespace string) string { return namespace + "/" + lease.UsualName }

// lives returns errDead if the holder does not renew its Lease. If the Lease is an operator's, a renewal that is recent
// by this machine's clock suffices. Otherwise lives waits for a renewal. Without this check a request could be lost,
// because a controller ignores a request that is more than a minute old when it first sees it.
func (c *Config) lives(ctx context.Context, l *lease.Found) error {
	said := l.Judged()
	if age := c.Now().Sub(said.Renewed); said.Word == lease.Operators && age > -time.Minute && age <= said.Patience {
		return nil
	}
	c.Note(fmt.Sprintf("Lease %s was not renewed lately: waiting up to %s to see whether %s still runs", said.Lease, said.Patience, said.Holder))
	renewed, err := l.Renewed(ctx)
	switch {
	case err != nil:
		return err
	case !renewed:
		return fmt.Errorf("%w: the Lease %s is not renewed", errDead, said.Lease)
	}
	return nil
}
