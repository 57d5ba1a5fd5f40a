package controller

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// A pod proves that records are lost if its create is not in the log. The seal on the pod shows that this log made it,
// and not somebody who may write pods. It needs the key of the run that made the pod.
//
// A copy of the log is usually without the key, so after a restore no seal can be checked. The Lease knows the end of
// the log as of its last renewal, and not the creates since. So from the loss of a key until a run records the next one,
// the annotation of a pod proves a loss without a seal. Example: the log ended with record 39, the Lease says 6, and the
// copy was restored through record 6. A pod has create #1 of a Job that the log does not know: the start is refused, and
// names --force-new-epoch. Whoever may write pods can cause the same at such a start, and nothing worse.

// provenByPods refuses to start if the log's key is not that of its last run, and a pod shows that records are lost. With
// the same key, the loop checks each pod.
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

// otherKey reports whether the last run knew the log's key under another ID.
func otherKey(world *projector.World, id string) bool { return world.Key != "" && world.Key != id }

// surveyPods returns, as losses, the pods of this log that carry a later epoch, and if the key of its last run is lost,
// those whose create the log does not have.
func (c *controller) surveyPods(ctx context.Context, log store.Opened, world *projector.World) (losses []events.Loss, err error) {
	key, err := open.Key(c.config.Log)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return nil, err
	}
	unsealed := missing && world.Key != "" || !missing && otherKey(world, key.ID())
	if missing && !unsealed {
		return nil, nil // the log has made no pod
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
