package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/lease"
	"github.com/jobledger/jobledger/internal/run/witness"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// refuseEarly returns an error if another controller runs these Jobs. It is called before a log is created or opened;
// what cannot be checked without a log is checked before the Lease is taken.
func (c *controller) refuseEarly(ctx context.Context) error {
	bound, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	before, err := c.lease.Read(bound)
	if err != nil {
		c.logger.Warn("cannot look at the Lease yet", "error", err)
	}
	there, err := open.Exists(c.config.Log)
	if err != nil {
		return fmt.Errorf("look for a log in %s: %w", c.config.Log, err)
	}
	if there {
		return c.refuseBeside(ctx)
	}
	if err := c.refuse(before, lease.Log{}); err != nil {
		return err
	}
	if err := c.refuseBeside(ctx); err != nil {
		return err
	}
	return c.refuseStranger(ctx, "")
}

// refuseElsewhere returns why this process must not take the Lease with this log, according to Leases in other
// namespaces: either the log is an older copy, or a controller runs these Jobs with another log.
func (c *controller) refuseElsewhere(ctx context.Context, log store.Opened, own lease.Log) error {
	elsewhere, err := c.lease.Elsewhere(ctx)
	if err != nil {
		return c.explainBlind(err)
	}
	for _, said := range elsewhere {
		if said.LogID != own.LogID {
			continue
		}
		if err := c.refuseSaid(said, own, log); err != nil {
			return err
		}
	}
	if before, err := c.lease.Read(ctx); err != nil || before.LogID == own.LogID {
		return nil //nolint:nilerr // the Lease is read again before it is taken
	}
	return c.refuseStranger(ctx, own.LogID)
}

// refuseStranger returns an error if a controller runs these Jobs with another log. It is for a log that no Lease
// names, and that therefore never ran here. A Lease in any namespace counts, even one that a tenant made, because a log
// that never ran here can wait until a person has looked. logID is empty if the directory has no log.
func (c *controller) refuseStranger(ctx context.Context, logID string) error {
	if c.config.Lease.Adopt {
		return nil
	}
	c.standBy(findingOut)
	stranger, err := c.lease.Stranger(ctx, logID)
	if err != nil || stranger == nil {
		return c.explainBlind(err)
	}
	return fmt.Errorf("%s, and no Lease says that the log in %s ran Jobs of this cluster: give --log where that one is, or --adopt to begin "+
		"with this one all the same", whose(*stranger), c.config.Log)
}

// refuseUnled is for a run without a Lease: it returns an error if another controller of these Jobs holds one. It
// checks once, at the start; nothing keeps another controller from starting later. It returns nil if rights are missing
// or the server does not answer.
func (c *controller) refuseUnled(ctx context.Context) error {
	client, err := c.cluster.Patient(askTimeout)
	if err != nil {
		return err
	}
	holders, err := lease.Holders(ctx, client, cmp.Or(c.settings.Namespace, lease.Everywhere))
	if err != nil {
		c.logger.Warn("cannot look for other controllers, and goes on without a Lease", "error", err)
		return nil
	}
	for _, l := range holders {
		said := l.Judged()
		return c.runsToo(&said.Said)
	}
	return nil
}

// explainBlind adds to err what the operator can do, if err is lease.ErrBlind: Leases could not be read.
func (c *controller) explainBlind(err error) error {
	if !errors.Is(err, lease.ErrBlind) {
		return err
	}
	if apierrors.IsUnauthorized(err) {
		return fmt.Errorf("%w; renew the token or the certificate of this account", err)
	}
	file := "deploy/base/clusterrole.yaml"
	if c.settings.Namespace != "" {
		file = "deploy/overlays/namespace/rights.yaml"
	}
	return fmt.Errorf("%w; %s gives that right", err, file)
}

// refuse returns why this process must not run the Jobs with its log, by what the Lease (before) says about the
// controller that runs or ran them (design §4, Identity). own describes this process's log; it is zero if the
// directory has none.
func (c *controller) refuse(before lease.Said, own lease.Log) error {
	adopt := c.config.Lease.Adopt
	switch {
	case before.LogID == "":
		return nil
	case before.Before && !adopt:
		return &events.BeforeError{
			What: "the Lease " + before.Lease, Do: "stop that controller, move its log away, and give --adopt to begin a new one",
		}
	case before.LogID != own.LogID && adopt:
		if !c.adopts {
			c.logger.Warn("another log ran the Jobs of this cluster before: going on with this one", "before", before.LogID, "now", own.LogID)
			c.adopts = true
		}
		if before.Holder != "" {
			c.standBy(whose(before) + ": waiting until it is given back, or has expired")
		}
		return nil
	case before.LogID != own.LogID && own.LogID == "":
		return fmt.Errorf("%s, and there is no log in %s: give --log where that one is, or --adopt to begin a new one",
			whose(before), c.config.Log)
	case before.LogID != own.LogID:
		return fmt.Errorf("%s, and the one in %s is log %s: give --log where that one is, or --adopt to go on with this one",
			whose(before), c.config.Log, own.LogID)
	case lacks(before, own):
		return c.refuseLoss(fmt.Errorf("the log in %s ends with record %d of epoch %d, and the Lease %s says that it had record %d of epoch %d: "+
			"its end is lost, or it is an older copy", c.config.Log, own.Head, own.Epoch, before.Lease, before.Head, before.Epoch), before.Epoch)
	}
	return nil
}

// refuseSaid returns why this process must not run the Jobs with its log, by what a Lease (said) says. If several
// processes share the log, it may lack the record that the Lease names: it will get that record from another process,
// or wait.
func (c *controller) refuseSaid(said lease.Said, own lease.Log, log store.Reader) error {
	if (c.member != nil || c.standby != nil) && lacks(said, own) {
		return nil
	}
	return cmp.Or(c.refuse(said, own), c.refuseFork(said, log))
}

// lacks reports whether the Lease names a record of this log that this process's log does not have yet.
func lacks(said lease.Said, own lease.Log) bool {
	return said.LogID == own.LogID && (said.Epoch > own.Epoch || said.Epoch == own.Epoch && said.Head > own.Head)
}

// refuseFork returns an error if this log and the one that the Lease names are different copies of one log. A
// controller ran with the other copy, so both have different records under the same numbers.
func (c *controller) refuseFork(before lease.Said, log store.Reader) error {
	lost, is, err := lostByLease(before, log)
	if err != nil {
		return fmt.Errorf("compare the log with what the Lease %s says: %w", before.Lease, err)
	}
	if !is {
		return nil
	}
	has := "another"
	if hash, err := log.Chain(before.Head); err == nil {
		has = hash.String()
	}
	return c.refuseLoss(fmt.Errorf("the log in %s is another one than the Lease %s names, with the same ID: its hash behind record %d is %s, "+
		"and was %s. A copy was run from", c.config.Log, before.Lease, before.Head, has, before.Hash), max(lost.Epoch, log.Identity().Epoch))
}

// lostByLease reports whether the log once had the record that the Lease names and lacks it now. The result is false if
// a record of the log says that it continues without the lost one, because the operator chose this.
func lostByLease(said lease.Said, log store.Reader) (lost events.Loss, is bool, err error) {
	if said.LogID != log.Identity().LogID || said.Head == 0 {
		return events.Loss{}, false, nil
	}
	lost = events.Loss{Witness: events.WitnessLease, Epoch: said.Epoch, Sequence: said.Head, Hash: said.Hash}
	is, err = witness.Lacks(log, lost)
	return lost, is, err
}

// whose returns words that say which controller works with which log, or did, according to the Lease s.
func whose(s lease.Said) string {
	if s.Holder == "" {
		return fmt.Sprintf("the Lease %s says that log %s runs the Jobs of this cluster", s.Lease, short(s.LogID))
	}
	return fmt.Sprintf("the Lease %s is held by %s, renewed at %s, with log %s (stop that controller first)",
		s.Lease, short(s.Holder), s.Renewed.UTC().Format(time.RFC3339), short(s.LogID))
}

// refuseBeside returns an error if another controller runs the same Jobs with a Lease in a namespace for operators. For
// Leases in other namespaces it only logs a warning: anyone with the right to write Leases there could create one, and
// must not be able to stop this controller.
func (c *controller) refuseBeside(ctx context.Context) error {
	c.standBy(findingOut)
	beside, err := c.lease.Beside(ctx)
	if err != nil {
		return c.explainBlind(err)
	}
	if beside.Above != nil {
		return c.runsToo(beside.Above)
	}
	for i := range beside.Others {
		other := &beside.Others[i]
		c.logger.Warn("another Lease is held and renewed for Jobs that are also ours: going on, because an honest holder would have "+
			"ended; find out who writes that Lease", "lease", other.Lease, "holder", short(other.Holder), "scope", short(other.Scope))
	}
	if text := besideUs(beside.Others); text != "" {
		c.health.set(func(h *Health) { h.beside = text })
	}
	return nil
}

// runsToo returns the error that another controller runs the same Jobs. That is so if one of the two runs all
// namespaces, or both run the same namespace.
func (c *controller) runsToo(other *lease.Said) error {
	theirs, ours := "in namespace "+other.Scope, "in namespace "+c.settings.Namespace
	if other.Scope == lease.Everywhere || other.Scope == "" {
		theirs = "in all namespaces"
	}
	if c.settings.Namespace == "" {
		ours = "in all namespaces"
	}
	return fmt.Errorf("the Lease %s is held by %s, with log %s: it runs Jobs %s, and this controller is to run Jobs %s: "+
		"stop that one, or give each controller a --namespace of its own", other.Lease, short(other.Holder), short(other.LogID), short(theirs), ours)
}

// besideUs returns a sentence for probes about other controllers' Leases for the same Jobs, as found at the start;
// empty for none.
func besideUs(others []lease.Said) string {
	if len(others) == 0 {
		return ""
	}
	var named []string
	for i := range others[:min(len(others), budgetNames)] {
		named = append(named, fmt.Sprintf("%s by %q", others[i].Lease, short(others[i].Holder)))
	}
	more := ""
	if n := len(others) - len(named); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return "at the start other Leases were held for the same Jobs, and were not heeded: " + strings.Join(named, ", ") + more
}

// short cuts a text from a Lease to at most 100 bytes, so that it fits a message.
func short(s string) string {
	const most = 100
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
