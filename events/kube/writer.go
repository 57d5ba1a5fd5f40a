package kube

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/events"
)

const (
	// Component is the source and the reporting controller of Events about Jobs. It is that of the built-in controller,
	// because users and dashboards search for it.
	Component = "job-controller"
	// CronComponent is the source and the reporting controller of Events about CronJobs: that of the built-in
	// controller.
	CronComponent = "cronjob-controller"
	// Instance is the reporting instance. It tells our Events from the built-in controller's, whose instance is empty.
	Instance = "jobledger"
	// RecordAnnotation on an Event names its record: "<log ID>.<epoch>/<sequence>". The epoch counts the lives of the
	// log.
	RecordAnnotation = "jobledger.dev/record"
	// VerdictAnnotation on the Event about the end of a Job says in one line how it ended and why.
	VerdictAnnotation = "jobledger.dev/verdict"
)

const (
	maxMessage = 1024 // bytes; the API's limit
	attempts   = 6
	firstPause = time.Second // before the second attempt; doubles each time
)

// writer writes Events to the API server, one at a time.
type writer struct {
	api        api
	identity   events.Identity
	correlator *correlator
	waiting    recounts
	logger     *slog.Logger
}

func newWriter(client kubernetes.Interface, identity events.Identity, logger *slog.Logger) *writer {
	return &writer{api: apiOf(client), identity: identity, logger: logger, correlator: newCorrelator(time.Now)}
}

// write writes e, the n-th Event of its record. It logs and gives up an Event that the API server refuses. Without an
// answer it makes six attempts within half a minute. If ctx ends, it returns ctx's error.
func (w *writer) write(ctx context.Context, e Event, n int) error {
	id := w.idOf(&e)
	t, ok := w.correlator.take(&e, func() string { return nameOf(&e, id, n) })
	if !ok {
		return nil
	}
	return w.deliver(ctx, &e, id, &t)
}

// idOf returns the value of RecordAnnotation: which record of which log the Event reports.
func (w *writer) idOf(e *Event) string {
	return w.identity.String() + "/" + strconv.FormatUint(uint64(e.Record), 10)
}

func (w *writer) deliver(ctx context.Context, e *Event, id string, t *toSend) error {
	pause := firstPause
	for attempt := 1; ; attempt++ {
		err := w.send(ctx, e, id, t)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case apierrors.IsAlreadyExists(err): // an earlier process published it and then crashed
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

// send creates the Event, or raises the count of an existing one.
func (w *writer) send(ctx context.Context, e *Event, id string, t *toSend) error {
	if t.count > 1 {
		patch, err := json.Marshal(recount{t.count, metav1.NewTime(t.at), t.text})
		if err != nil {
			return err
		}
		if err = w.api.patch(ctx, e.Job.Namespace, t.name, patch); !apierrors.IsNotFound(err) {
			return err
		} // the Event to patch has expired at the API server: create it again
	}
	return w.api.create(ctx, object(e, id, t))
}

// recount is the patch that raises the count of a repeated Event.
type recount struct {
	Count         int32       `json:"count"`
	LastTimestamp metav1.Time `json:"lastTimestamp"`
	Message       string      `json:"message,omitempty"`
}

// refused reports whether a retry would be useless, because the API server would refuse it, too.
func refused(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	code := status.Status().Code
	return code >= 400 && code < 500 && code != 408 && code != 429
}

// nameOf returns the name of the n-th Event of a record; id is the value of RecordAnnotation. The name is the same when
// the Event is published again after a crash.
func nameOf(e *Event, id string, n int) string {
	sum := sha256.Sum256([]byte(id + "/" + strconv.Itoa(n)))
	return e.Job.Name + "." + hex.EncodeToString(sum[:8])
}

// object returns the Kubernetes object for an Event.
func object(e *Event, id string, t *toSend) *corev1.Event {
	var annotations map[string]string
	if !t.combined {
		annotations = map[string]string{RecordAnnotation: id}
		if e.Verdict != "" {
			annotations[VerdictAnnotation] = bounded(e.Verdict)
		}
	}
	kind := "Job"
	if e.CronJob {
		kind = "CronJob"
	}
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: e.Job.Namespace, Name: t.name, Annotations: annotations},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: "batch/v1", Kind: kind, Namespace: e.Job.Namespace, Name: e.Job.Name, UID: e.Job.UID,
		},
		Type:                e.Type,
		Reason:              e.Reason,
		Message:             t.text,
		Source:              corev1.EventSource{Component: componentOf(e)},
		ReportingController: componentOf(e),
		ReportingInstance:   Instance,
		FirstTimestamp:      metav1.NewTime(t.first),
		LastTimestamp:       metav1.NewTime(t.at),
		Count:               t.count,
	}
}

func componentOf(e *Event) string {
	if e.CronJob {
		return CronComponent
	}
	return Component
}

// bounded cuts a message to the API's limit, at a character boundary.
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
