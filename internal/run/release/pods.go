package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/pager"

	"github.com/jobledger/jobledger/events"
)

// heldPod is a pod with a finalizer that this release removes.
type heldPod struct {
	namespace, name string
	uid             types.UID
	job             types.UID // UID of the owner that is its controller (the Job); empty for none
	finalizers      []string
}

// heldPods returns the pods with a finalizer that the config names and, unless Drained is set, the pods with the
// built-in controller's finalizer whose Job is in counted. counted has the finished Jobs of the built-in controller
// whose status accounts for every pod, so their pods no longer need the finalizer. heldPods reads the pods page by
// page, and keeps only the fields that are needed.
func (c *Config) heldPods(ctx context.Context, counted map[types.UID]bool) ([]heldPod, error) {
	var held []heldPod
	list := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return c.Client.CoreV1().Pods(c.Namespace).List(ctx, options)
	})
	err := list.EachListItem(ctx, metav1.ListOptions{}, func(o runtime.Object) error {
		pod := o.(*corev1.Pod)
		h := heldPod{namespace: pod.Namespace, name: pod.Name, uid: pod.UID}
		if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
			h.job = owner.UID
		}
		for _, f := range Finalizers {
			if !slices.Contains(pod.Finalizers, f) {
				continue
			}
			forNobody := f == events.BuiltinTrackingFinalizer && !c.Drained && counted[h.job]
			if slices.Contains(c.Finalizers, f) || forNobody {
				h.finalizers = append(h.finalizers, f)
			}
		}
		if len(h.finalizers) > 0 {
			held = append(held, h)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	return held, nil
}

// How many pods are patched at the same time (together), and after how many patches the results are reported, in order
// (portion).
const (
	together = 16
	portion  = 256
)

// releasePods removes the finalizers from the pods in held. It returns how many pods still have one at the end: those
// that could not be patched, and those that were created in the meantime. counted is as for heldPods, which it calls
// again at the end.
func (c *Config) releasePods(ctx context.Context, held []heldPod, counted map[types.UID]bool) (remain int, err error) {
	told := map[types.UID]bool{}
	for pods := range slices.Chunk(held, portion) {
		items := make([]Item, len(pods))
		var group errgroup.Group
		group.SetLimit(together)
		for i := range pods {
			group.Go(func() error { // ends after at most 6 tries
				items[i] = c.releasePod(ctx, &pods[i])
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return 0, err
		}
		for i := range items {
			told[items[i].UID] = items[i].Result == Failed || items[i].Result == Remains
			c.Tell(items[i])
		}
	}
	if c.DryRun {
		return 0, nil
	}
	after, err := c.heldPods(ctx, counted)
	if err != nil {
		return 0, err
	}
	for i := range after {
		if !told[after[i].uid] {
			item := after[i].item()
			item.Result, item.Message = Remains, "it came meanwhile: does a controller run?"
			c.Tell(item)
		}
	}
	return len(after), nil
}

func (h *heldPod) item() Item {
	return Item{
		Kind: "Pod", Namespace: h.namespace, Name: h.name, UID: h.uid, Action: RemoveFinalizer,
		Message: strings.Join(h.finalizers, ", "),
	}
}

// releasePod removes the finalizers of one pod, and returns the entry for the report.
func (c *Config) releasePod(ctx context.Context, h *heldPod) Item {
	item := h.item()
	switch reason, kept := c.kept[h.namespace]; {
	case c.DryRun:
		return item
	case kept:
		item.Result, item.Message = Remains, reason
		return item
	case c.Drained:
		item.Result, item.Message = Remains, "the controller has not removed "+item.Message
		return item
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":                                 h.uid, // a precondition: the patch fails if another pod has the name now
		"$deleteFromPrimitiveList/finalizers": h.finalizers,
	}})
	if err != nil {
		panic(err) // strings always marshal
	}
	err = again(ctx, func() error {
		_, err := c.Client.CoreV1().Pods(h.namespace).Patch(ctx, h.name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
		return err
	})
	switch {
	case err == nil:
		item.Result = Done
	case apierrors.IsNotFound(err), aboutUID(err):
		item.Result = Gone
	default:
		item.Result, item.Message = Failed, err.Error()
	}
	return item
}

// aboutUID reports whether the server refused a patch because another pod has the name now.
func aboutUID(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(cause metav1.StatusCause) bool {
		return cause.Field == "metadata.uid"
	})
}

// The backoff of a request that may succeed later: six tries within about eight seconds.
const (
	firstWait = 250 * time.Millisecond
	tries     = 6
)

// again calls f until it succeeds, fails with an error that will not go away by itself, or has been called 6 times.
func again(ctx context.Context, f func() error) error {
	wait := firstWait
	for try := 1; ; try++ {
		err := f()
		if err == nil || try == tries || !mayPass(err) {
			return err
		}
		pause := wait
		if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
			pause = max(pause, time.Duration(seconds)*time.Second)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
		wait *= 2
	}
}

// mayPass reports whether the same request may succeed a little later, by the kind of its error.
func mayPass(err error) bool {
	var network net.Error
	return apierrors.IsConflict(err) || apierrors.IsTooManyRequests(err) || apierrors.IsServerTimeout(err) ||
		apierrors.IsTimeout(err) || apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err) || errors.As(err, &network)
}
