package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats/publish"
	"github.com/jobledger/jobledger/internal/run/copying"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// EpochFlag is the name of the flag by which an operator continues a log that lost records; messages name it. New
// records would reuse the sequence numbers of the lost ones. So the controller refuses such a log until the flag names
// the epoch (a new life of the log) to begin. That number must be higher than any epoch seen so far; so the flag works
// for one loss, and does nothing if it stays set afterwards.
const EpochFlag = "force-new-epoch"

// explainLoss adds to an error about lost records what an operator can do.
func (c *controller) explainLoss(err error) error {
	var found *loop.LossError
	var lost *store.LossError
	switch {
	case errors.As(err, &found):
		return c.refuseLoss(err, found.Loss.Epoch)
	case errors.As(err, &lost):
		return c.refuseLoss(err, lost.Loss.Epoch)
	}
	return err
}

// refuseLoss adds to err what the operator can do to continue the log. seen is the highest epoch (life of the log) that
// was found anywhere; the text proposes the next one.
func (c *controller) refuseLoss(err error, seen uint64) error {
	return fmt.Errorf("%w. Nothing is done with the log in %s: if there is a newer copy of it, put that in its place; to go on without the "+
		"records that are lost, under another epoch: --%s=%d", err, c.config.Log, EpochFlag, seen+1)
}

// goOn begins the epoch (a new life of the log) that the operator named with --force-new-epoch, if the log is known to
// lack records. It runs before any other part uses the log; so if it fails halfway, the proofs of the loss still exist.
func (c *controller) goOn(ctx context.Context, log store.Opened) error {
	epoch, now := c.config.Epoch, log.Identity().Epoch
	if epoch == 0 {
		return nil // without the flag, an earlier step has refused a log with a known loss
	}
	world, err := loop.Recover(ctx, log)
	if err != nil {
		return err
	}
	losses := log.Losses()
	if world.Lost != (events.Loss{}) {
		losses = append(slices.Clone(losses), world.Lost)
	}
	if epoch > now {
		more, err := c.survey(ctx, log, world)
		if err != nil {
			return fmt.Errorf("--%s=%d: every epoch that was seen must be known before another one begins: %w", EpochFlag, epoch, err)
		}
		losses = append(slices.Clone(losses), more...)
	}
	if len(losses) == 0 {
		c.logger.Warn("no record of the log is known to be lost: --"+EpochFlag+" does nothing. Take it out: it would let the next loss pass",
			"epoch", now, "flag", epoch)
		return nil
	}
	lost := slices.MaxFunc(losses, func(a, b events.Loss) int {
		return cmp.Or(cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.Sequence, b.Sequence))
	})
	if seen := max(now, lost.Epoch); epoch <= seen {
		return c.refuseLoss(fmt.Errorf("--%s=%d: epoch %d was seen already: %w", EpochFlag, epoch, seen, &loop.LossError{Loss: lost}), seen)
	}
	c.logger.Warn("going on without records that are lost, as --"+EpochFlag+" says", "lost", lost.String(), "head", uint64(log.Head().Sequence),
		"epoch", epoch)
	if err := loop.BeginEpoch(ctx, log, world, events.At(time.Now()), salt, epoch, lost); err != nil {
		return err
	}
	return log.GoOn()
}

// survey returns the losses of records that can be proved from outside the log. It asks the Lease, the pods, the NATS
// stream and the copy, because each may have seen a later record or a later epoch of the log.
func (c *controller) survey(ctx context.Context, log store.Opened, world *projector.World) (losses []events.Loss, err error) {
	ctx, cancel := context.WithTimeout(ctx, surveyWithin)
	defer cancel()
	if c.lease != nil {
		if losses, err = c.surveyLeases(ctx, log); err != nil {
			return nil, err
		}
	}
	byPods, err := c.surveyPods(ctx, log, world)
	if err != nil {
		return nil, err
	}
	byStream, err := c.surveyStream(ctx, log)
	if err != nil {
		return nil, err
	}
	byCopy, err := c.surveyCopy(ctx, log)
	return slices.Concat(losses, byPods, byStream, byCopy), err
}

// surveyLeases returns the losses of records that Leases prove, because they name a later record. It reads this
// controller's Lease, and the Leases in the other namespace where operators run controllers.
func (c *controller) surveyLeases(ctx context.Context, log store.Opened) (losses []events.Loss, err error) {
	ours, err := c.lease.Read(ctx)
	if err != nil {
		return nil, err
	}
	elsewhere, err := c.lease.Elsewhere(ctx)
	if err != nil {
		return nil, c.explainBlind(err)
	}
	for _, said := range append(elsewhere, ours) {
		lost, is, err := lostByLease(said, log)
		if err != nil {
			return nil, fmt.Errorf("compare the log with what the Lease %s says: %w", said.Lease, err)
		}
		if is {
			losses = append(losses, lost)
		}
	}
	return losses, nil
}

// surveyWithin bounds the time of all requests of survey together.
const surveyWithin = time.Minute

// provenByPods returns an error if pods show that the log lost records; the controller must then not start. It checks
// only if the log's key (a secret) is not the one of its last run; with the same key, the loop checks each pod.
//
// A pod proves a loss if the log does not have the decision to create it. An annotation of the pod, the seal, shows
// that a controller with this log created the pod, and not another writer of pods. To check the seal, the key of the
// run that created the pod is needed. A copy of the log is usually without the key, so after a restore no seal can be
// checked. The Lease does not help: it knows the end of the log as of its last renewal, and not the creates since. So
// while the key differs from the last recorded one, a pod proves a loss without a seal.
//
// Example: the log ended with record 39, the Lease says 6, and the copy was restored through record 6. A pod has create
//
// #1 of a Job that the log does not know. The start is refused, and the error names --force-new-epoch. Any writer of
// pods can cause the same at such a start, and nothing worse.
func (c *controller) provenByPods(ctx context.Context, log store.Opened, world *projector.World) error {
	if !otherKey(world, c.key.ID()) {
		return nil
	}
	bound, cancel := context.WithTimeout(ctx, surveyWithin)
	defer cancel()
	losses, err := c.surveyPods(bound, log, world)
	if err != nil {
		return unlessStopped(ctx, fmt.Errorf("the key of the log is not the one of the last run, so its pods are compared with the log: %w", err))
	}
	if len(losses) > 0 {
		return c.refuseLoss(&loop.LossError{Loss: losses[0]}, log.Identity().Epoch)
	}
	return nil
}

// otherKey reports whether the log says that its last run had another key (secret) than the one with this ID.
func otherKey(world *projector.World, id string) bool { return world.Key != "" && world.Key != id }

// surveyPods returns the losses of records that pods prove. A pod proves a loss if it has a later epoch (life of the
// log) in an annotation with a valid seal, that is, one made with the log's key. If the key of the last run is lost, a
// pod without a valid seal proves a loss too, if the log does not have the decision to create that pod.
func (c *controller) surveyPods(ctx context.Context, log store.Opened, world *projector.World) (losses []events.Loss, err error) {
	key, err := open.Key(c.config.Log)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return nil, err
	}
	unsealed := missing && world.Key != "" || !missing && otherKey(world, key.ID())
	if missing && !unsealed {
		return nil, nil // the log never had a key, so it has created no pod
	}
	id := log.Identity()
	list := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return c.cluster.Client.CoreV1().Pods(c.settings.Namespace).List(ctx, o)
	})
	err = list.EachListItem(ctx, metav1.ListOptions{}, func(o runtime.Object) error {
		pod := o.(*corev1.Pod)
		command := pod.Annotations[events.CommandAnnotation]
		life, job, ordinal, ok := events.ParseCommand(command)
		if !ok || life.LogID != id.LogID {
			return nil
		}
		sealed := !missing && pod.Annotations[events.SealAnnotation] == key.Seal(pod.Namespace, command)
		switch {
		case sealed && life.Epoch > id.Epoch:
			losses = append(losses, events.Loss{
				Witness: events.WitnessPod, Epoch: life.Epoch, Job: job, Ordinal: ordinal, Pod: pod.UID,
			})
		case unsealed && !sealed && life.Epoch == id.Epoch:
			loss, is, err := loop.Undecided(log, world, events.Claim{Epoch: life.Epoch, Job: job, Ordinal: ordinal}, pod.UID)
			if err != nil {
				return err
			}
			if is {
				losses = append(losses, loss)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the pods: %w", err)
	}
	return losses, nil
}

// surveyStream returns the loss of records that the NATS stream proves: the stream has a later record of this log.
func (c *controller) surveyStream(ctx context.Context, log store.Opened) ([]events.Loss, error) {
	dir, err := open.Dir(c.config.Log)
	if err != nil {
		return nil, err
	}
	s, err := newStreamer(&c.config.Stream, dir, log, c.logger)
	if s == nil || err != nil {
		return nil, err
	}
	defer s.close()
	lost, is, err := publish.Ahead(ctx, s.Config)
	if err != nil || !is {
		return nil, err
	}
	return []events.Loss{lost}, nil
}

// surveyCopy returns the loss of records that the log's copy proves: the copy has a later record of this log.
func (c *controller) surveyCopy(ctx context.Context, log store.Log) ([]events.Loss, error) {
	if c.config.Copy.Place == nil {
		return nil, nil
	}
	lost, is, err := copying.Lost(ctx, c.config.Copy.Place, log)
	if err != nil || !is {
		return nil, err
	}
	return []events.Loss{lost}, nil
}
