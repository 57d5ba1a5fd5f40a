package kubelet

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// liveAll runs the simulated life of every pod in the queue, each in a goroutine that ends with the pod or with ctx.
func (k *Kubelet) liveAll(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for pod := range k.queue {
		node := k.seen % len(k.nodes)
		k.seen++
		g.Go(func() error {
			err := k.live(ctx, node, pod)
			// Not found is no error: the cleanup of the bench deletes pods that still run.
			if err == nil || ctx.Err() != nil || apierrors.IsNotFound(err) {
				return nil
			}
			return fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, err)
		})
	}
	return g.Wait()
}

// live runs the simulated life of one pod on a node: the pod is bound, created, running and ended, with one write each.
func (k *Kubelet) live(ctx context.Context, node int, pod *corev1.Pod) error {
	fate := k.config.Fate(pod)
	err := k.config.API.Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: fmt.Sprintf("node-%d", node)},
	})
	if err != nil {
		return fmt.Errorf("bind: %w", err)
	}
	l := life{pod: pod}
	l.creating(metav1.Now())
	if err := k.write(ctx, node, &l); err != nil {
		return err
	}
	l.running(metav1.Now())
	if err := k.write(ctx, node, &l); err != nil {
		return err
	}
	if fate.RunFor > 0 {
		select {
		case <-time.After(fate.RunFor):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	l.ended(metav1.Now(), fate.Fails)
	if err := k.write(ctx, node, &l); err != nil {
		return err
	}
	k.config.Ended(pod)
	return nil
}

// write writes the status of a pod. It first waits until the earlier write of the same node is answered, because a
// node makes one write at a time.
func (k *Kubelet) write(ctx context.Context, node int, l *life) error {
	body, err := statusBody(&l.status)
	if err != nil {
		return err
	}
	due := time.Now()
	select {
	case k.nodes[node] <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-k.nodes[node] }()
	began := time.Now()
	if err := k.config.API.PatchStatus(ctx, l.pod, body); err != nil {
		return fmt.Errorf("write the status %s: %w", l.status.Phase, err)
	}
	k.config.Wrote(l.pod, began.Sub(due), time.Since(began))
	return nil
}
