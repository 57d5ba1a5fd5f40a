package doctor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/lease"
)

// leaseHolder reports which process holds the Lease, and which hold other Leases for the same Jobs.
func leaseHolder(ctx context.Context, c *Config) []Finding {
	switch {
	case c.Settings.Mode == events.ModeObserve:
		return nil // observe mode writes nothing, so it needs no Lease
	case !c.Lease.On:
		return []Finding{{
			Level: Warning, Text: "no Lease is held (--leader-elect=false): nothing keeps two controllers with two logs apart", Do: "leave --leader-elect on",
		}}
	}
	places := slices.Clone(lease.OperatorNamespaces)
	if !slices.Contains(places, c.Lease.Namespace) {
		places = append(places, c.Lease.Namespace)
	}
	var found []Finding
	for _, namespace := range places {
		found = append(found, c.heldIn(ctx, namespace)...)
	}
	return found
}

// heldIn returns the findings about the Lease in one namespace.
func (c *Config) heldIn(ctx context.Context, namespace string) []Finding {
	own := namespace == c.Lease.Namespace
	name := namespace + "/" + lease.UsualName
	l, err := lease.Read(ctx, c.Client, namespace)
	if err != nil {
		return []Finding{cannotList("the Lease "+name, err)}
	}
	if l == nil && own {
		return well("the Lease " + name + " is free: no controller has run yet")
	}
	if l == nil {
		return nil
	}
	said := l.Judged()
	age, known := c.age(&said)
	switch {
	case said.Holder == "" && own:
		return well("the Lease " + name + " is free: no controller runs")
	case said.Holder == "", !own && !said.Runs(c.scope()):
		return nil
	case !known:
		return []Finding{{
			Level: Warning, Do: "see whether that controller runs",
			Text: fmt.Sprintf("the Lease %s is held by %s, and was renewed at a time that is to come: its holder has another clock, or another "+
				"user wrote it", name, said.Holder),
		}}
	case age > said.Patience:
		return []Finding{{
			Level: Warning, Text: fmt.Sprintf("the Lease %s was last renewed %s ago, by %s: no controller runs", name, age.Round(time.Second), said.Holder),
			Do: "start jobledger run with the same log; it takes the Lease over",
		}}
	case !own:
		return []Finding{{
			Level: Problem, Do: "stop that controller, or give each a --namespace of its own",
			Text: fmt.Sprintf("the Lease %s is held by %s, for Jobs that this controller is to run: it would refuse to start", name, said.Holder),
		}}
	}
	return well(fmt.Sprintf("the Lease %s is held by %s", name, said.Holder))
}

// age returns the time since the holder last renewed a Lease. The renewal is in the holder's clock; known is false if
// it is a minute or more in the future.
func (c *Config) age(said *lease.Judged) (age time.Duration, known bool) {
	age = c.Now().Sub(said.Renewed)
	return max(age, 0), age > -time.Minute
}

// scope returns the namespace whose Jobs the controller runs, or lease.Everywhere.
func (c *Config) scope() string {
	if c.Settings.Namespace != "" {
		return c.Settings.Namespace
	}
	return lease.Everywhere
}

// newestLease returns when a trusted Lease of ours for these Jobs was last renewed. Until that time, a controller of
// ours may have written statuses. ok is false if such a controller may still be running, or if this cannot be
// determined.
func (c *Config) newestLease(ctx context.Context) (newest time.Time, ok bool) {
	for _, namespace := range append(slices.Clone(lease.OperatorNamespaces), c.Settings.Namespace) {
		if namespace == "" {
			continue
		}
		l, err := lease.Read(ctx, c.Client, namespace)
		if err != nil {
			return time.Time{}, false
		}
		if l == nil || l.Judged().Word == lease.Nobodys {
			continue
		}
		said := l.Judged()
		if age, known := c.age(&said); said.Holder != "" && (!known || age <= said.Patience) {
			return time.Time{}, false
		}
		if said.Renewed.After(newest) {
			newest = said.Renewed
		}
	}
	return newest, true
}
