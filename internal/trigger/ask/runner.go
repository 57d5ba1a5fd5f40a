package ask

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/lease"
)

// runner finds the controller of ours that runs the CronJobs of the namespace, by the Leases. Its error says who else does, as far as
// that can be told, and what a user can do then.
func (c *Config) runner(ctx context.Context) (holder, name string, err error) {
	var denied []string
	var reason error
	without := "" // a holder that runs Jobs of the namespace, and no CronJobs
	for _, at := range c.Leases {
		l, err := lease.Read(ctx, c.Client, at.Namespace, at.Name)
		if apierrors.IsForbidden(err) {
			denied, reason = append(denied, at.String()), err
			continue
		}
		if err != nil {
			return "", "", err
		}
		if l == nil || !holds(l.Said(), c.Namespace) {
			continue
		}
		if !l.Said().Cron {
			without = l.Said().Holder
			continue
		}
		if err := c.lives(ctx, l, at); err != nil {
			return "", "", err
		}
		return l.Said().Holder, at.String(), nil
	}
	switch {
	case without != "":
		return "", "", fmt.Errorf("the controller %s does not run CronJobs, so the built-in controller does, which knows no trigger; %s", without, c.instead())
	case reason != nil:
		return "", "", fmt.Errorf("it cannot be told who runs the CronJobs of namespace %s: you may not read the Lease %s (deploy/trigger/role.yaml gives that right): %w",
			c.Namespace, strings.Join(denied, " or "), reason)
	}
	return "", "", fmt.Errorf("no controller of Jobledger runs the CronJobs of namespace %s, by the Lease %s; where the built-in one does, %s",
		c.Namespace, c.leases(), c.instead())
}

// instead is what a user of the built-in controller does.
func (c *Config) instead() string {
	return fmt.Sprintf("'kubectl create job NAME --from=cronjob/%s -n %s' makes a Job at once, whatever the concurrency policy says", c.Name, c.Namespace)
}

func (c *Config) leases() string {
	var names []string
	for _, at := range c.Leases {
		names = append(names, at.String())
	}
	return strings.Join(names, " or ")
}

// holds reports whether a controller holds a Lease for the Jobs of a namespace. A Lease elsewhere than where we look says nothing: any
// tenant can write one.
func holds(said lease.Said, namespace string) bool {
	return said.Holder != "" && (said.Scope == lease.Everywhere || said.Scope == namespace)
}

// lives makes sure that the holder renews its Lease: by our clock if that agrees, else by waiting for a renewal. A request that is older
// than a minute when a controller first sees it is not carried out.
func (c *Config) lives(ctx context.Context, l *lease.Found, at types.NamespacedName) error {
	if age := c.Now().Sub(l.Said().Renewed); age > -time.Minute && age <= l.Duration() {
		return nil
	}
	c.Note(fmt.Sprintf("Lease %s was not renewed lately: waiting up to %s to see whether %s still runs", at, l.Duration(), l.Said().Holder))
	renewed, err := l.Renewed(ctx)
	switch {
	case err != nil:
		return err
	case !renewed:
		return fmt.Errorf("the controller that runs the CronJobs does not run now: the Lease %s is not renewed", at)
	}
	return nil
}
