package doctor

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
)

// leaseHolder says who holds the Lease.
func leaseHolder(ctx context.Context, c *Config) []Finding {
	switch {
	case c.Settings.Mode == events.ModeObserve:
		return nil // it writes nothing, so it needs none
	case !c.Lease.On:
		return []Finding{{
			Level: Warning, Text: "no Lease is held (--leader-elect=false): nothing keeps two controllers with two logs apart", Do: "leave --leader-elect on",
		}}
	}
	l, err := c.Client.CoordinationV1().Leases(c.Lease.Namespace).Get(ctx, c.Lease.Name, metav1.GetOptions{})
	name := c.Lease.Namespace + "/" + c.Lease.Name
	switch {
	case apierrors.IsNotFound(err):
		return well("the Lease " + name + " is free: no controller has run yet")
	case err != nil:
		return []Finding{cannotList("the Lease "+name, err)}
	}
	s := l.Spec
	if s.HolderIdentity == nil || *s.HolderIdentity == "" || s.RenewTime == nil || s.LeaseDurationSeconds == nil {
		return well("the Lease " + name + " is free: no controller runs")
	}
	age := c.Now().Sub(s.RenewTime.Time)
	if age > time.Duration(*s.LeaseDurationSeconds)*time.Second {
		return []Finding{{
			Level: Warning, Text: fmt.Sprintf("the Lease %s was last renewed %s ago, by %s: no controller runs", name, age.Round(time.Second), *s.HolderIdentity),
			Do: "start jobledger run with the same log; it takes the Lease over",
		}}
	}
	return well(fmt.Sprintf("the Lease %s is held by %s", name, *s.HolderIdentity))
}
