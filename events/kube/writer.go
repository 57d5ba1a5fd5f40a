package kube

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/jobledger/jobledger/events"
)

const (
	// Component is the source and the reporting controller of Events: users and dashboards look for that of the
	// built-in controller.
	Component = "job-controller"
	// CronComponent is that of Events about CronJobs.
	CronComponent = "cronjob-controller"
	// RecordAnnotation on an Event names the record that it tells of: "<log ID>.<epoch>/<sequence>".
	RecordAnnotation = "jobledger.dev/record"
	// VerdictAnnotation on the Event of a Job's end says in one line how and why it ended.
	VerdictAnnotation = "jobledger.dev/verdict"
)

const (
	maxMessage = 1024 // bytes; the API's bound
	attempts   = 6
	firstPause = time.Second // before the second attempt; doubles
)

// writer writes Events to the API server, one at a time.
type writer struct {
	client     typedcorev1.EventsGetter
	identity   events.Identity
	correlator *record.EventCorrelator // combines similar Events and slows floods down
	logger     *slog.Logger
}

func newWriter(client typedcorev1.EventsGetter, identity events.Identity, logger *slog.Logger) *writer {
	return &writer{
		client: client, identity: identity, logger: logger,
		correlator: record.NewEventCorrelatorWithOptions(record.CorrelatorOptions{SpamKeyFunc: floodKey}),
	}
}

// floodKey is what the flood control counts by. By default it is the object, so that a Job with many pods would have used
// up its Events before it completes; with the reason, each kind of Event has a count of its own.
func floodKey(e *corev1.Event) string {
	return string(e.InvolvedObject.UID) + "/" + e.Reason
}

// write writes one Event, the nth of its record. What the API server refuses is logged and given up; what it did not answer
// is tried six times within half a minute. The error is
// ctx's, but for a fault of the correlator.
func (w *writer) write(ctx context.Context, e Event, n int) error {
	result, err := w.correlator.EventCorrelate(w.object(e, n))
	if err != nil {
		return fmt.Errorf("combine similar Events: %w", err)
	}
	if result.Skip {
		return nil
	}
	result.Event.ReportingController = componentOf(&e) // the correlator's combined Events lack it
	pause := firstPause
	for attempt := 1; ; attempt++ {
		stored, err := w.send(ctx, result)
		switch {
		case err == nil:
			w.correlator.UpdateState(stored)
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case apierrors.IsAlreadyExists(err): // it was published before a crash
			return nil
		case refused(err) || attempt == attempts:
			w.logger.Warn("Kubernetes Event is lost", "job", e.Job.Namespace+"/"+e.Job.Name, "reason", e.Reason,
				"record", uint64(e.Record), "error", err)
			return nil
		}
		if err := wait(ctx, pause); err != nil {
			return err
		}
		pause *= 2
	}
}

// send creates the Event, or raises the count of one that says the same.
func (w *writer) send(ctx context.Context, r *record.EventCorrelateResult) (*corev1.Event, error) {
	api := w.client.Events(r.Event.Namespace)
	if r.Event.Count > 1 {
		stored, err := api.PatchWithEventNamespaceWithContext(ctx, r.Event, r.Patch)
		if !apierrors.IsNotFound(err) {
			return stored, err
		}
		r.Event.ResourceVersion = "" // it has expired: make it again
	}
	return api.CreateWithEventNamespaceWithContext(ctx, r.Event)
}

// refused reports whether the server will say the same again.
func refused(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	code := status.Status().Code
	return code >= 400 && code < 500 && code != 408 && code != 429
}

// object is the Event as the API has it.
func (w *writer) object(e Event, n int) *corev1.Event {
	id := fmt.Sprintf("%s/%d", w.identity, e.Record)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", id, n))
	at := metav1.NewTime(e.At.Go())
	annotations := map[string]string{RecordAnnotation: id}
	if e.Verdict != "" {
		annotations[VerdictAnnotation] = bounded(e.Verdict)
	}
	kind := "Job"
	if e.CronJob {
		kind = "CronJob"
	}
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   e.Job.Namespace,
			Name:        fmt.Sprintf("%s.%x", e.Job.Name, sum[:8]),
			Annotations: annotations,
		},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: "batch/v1", Kind: kind, Namespace: e.Job.Namespace, Name: e.Job.Name, UID: e.Job.UID,
		},
		Type:                e.Type,
		Reason:              e.Reason,
		Message:             bounded(e.Message),
		Source:              corev1.EventSource{Component: componentOf(&e)},
		ReportingController: componentOf(&e),
		FirstTimestamp:      at,
		LastTimestamp:       at,
		Count:               1,
	}
}

func componentOf(e *Event) string {
	if e.CronJob {
		return CronComponent
	}
	return Component
}

// bounded cuts a message to what the API takes, at a character.
func bounded(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "")
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
