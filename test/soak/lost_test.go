//go:build linux

package soak

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	events "github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// metric reads a metric without labels.
func metric(ctx context.Context, target, name string) (float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err
	}
	m := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("there is no metric %s", name)
	}
	return strconv.ParseFloat(string(m[1]), 64)
}

// published waits until the stream has every durable record.
func published(t *testing.T, ctx context.Context, target string) {
	t.Helper()
	eventually(t, ctx, "the stream has every record", func() error {
		lag, err := metric(ctx, target, "jobledger_nats_lag_records")
		if err == nil && lag > 0 {
			err = fmt.Errorf("%.0f are not there", lag)
		}
		return err
	})
}

// logHasAll: the log is sound, replays, and has the end of every Job.
func logHasAll(t *testing.T, ctx context.Context, c *controller.Controller, w *work) {
	t.Helper()
	if err := c.Check(ctx); err != nil {
		t.Error(err)
	}
	records, err := c.Records(ctx, "--kind", "JobRetired")
	if err != nil {
		t.Fatal(err)
	}
	retired := map[string]bool{}
	for i := range records {
		retired[records[i].Stream] = true
	}
	lost := 0
	for uid := range w.created {
		if !retired["job/"+string(uid)] && !retired[string(uid)] {
			lost++
		}
	}
	t.Logf("the log says of %d Jobs how they ended; %d of %d are lost", len(retired), lost, len(w.created))
	if lost > 0 {
		t.Errorf("the log does not say of %d Jobs how they ended", lost)
	}
}

// streamHasAll: the stream has the message of the end of every Job.
func streamHasAll(t *testing.T, ctx context.Context, nats *natstest.Server, w *work) {
	t.Helper()
	names := nats.JetStream().StreamNames(ctx)
	ended := map[string]uint64{} // by subject
	for name := range names.Name() {
		s, err := nats.JetStream().Stream(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		filter := events.Filter{Cluster: cluster, Namespace: w.namespace, Kind: events.KindJob, Event: "JobRetired"}
		info, err := s.Info(ctx, jetstream.WithSubjectFilter(filter.String()))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("the stream %s has %d messages, %d of ends of Jobs", name, info.State.Msgs, len(info.State.Subjects))
		maps.Copy(ended, info.State.Subjects)
	}
	if err := names.Err(); err != nil {
		t.Fatal(err)
	}
	lost := 0
	for _, name := range w.created {
		subject := events.Subject{Cluster: cluster, Namespace: w.namespace, Kind: events.KindJob, Name: name, Event: "JobRetired"}
		if ended[subject.String()] == 0 {
			lost++
		}
	}
	if lost > 0 {
		t.Errorf("the stream does not say of %d Jobs how they ended", lost)
	}
}
