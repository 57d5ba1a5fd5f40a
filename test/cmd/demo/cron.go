package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// pulse is the CronJob in examples/cronjob.yaml. Its schedule asks for a run every few seconds, but it starts at most
// one Job a minute.
const pulse = "cronjob/pulse"

// pulsesWithin limits how long the demo waits for two due times of pulse: one that starts a Job, and one that does not.
const pulsesWithin = 2 * time.Minute

// showCronJob restarts the controller so that it replaces the built-in controllers. Then it shows what became of the
// first due times of a CronJob, why one of them started no Job, and when the next due times are.
func (d *demo) showCronJob(ctx context.Context) (err error) {
	d.say(`
So far Jobledger ran the Jobs that ask for it, as it does beside the built-in controllers. Here are
none, so it can take their place, and run CronJobs. It is started again for that, on the same log:
`)
	if err := d.started.stop(); err != nil {
		return err
	}
	if err := d.allow(ctx, "cronjobs", "ttl"); err != nil {
		return err
	}
	if d.started, err = d.startController(ctx, "--manage=all"); err != nil {
		return err
	}
	path := filepath.Join("examples", "cronjob.yaml")
	var cron batchv1.CronJob
	if err := d.decode(path, &cron); err != nil {
		return err
	}
	if _, err := d.client.BatchV1().CronJobs(namespace).Create(ctx, &cron, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create the CronJob of %s: %w", path, err)
	}
	d.say("\nThen the CronJob of examples/cronjob.yaml is created, which is due every 5 s. Some due times later:")
	missed, err := d.awaitPulses(ctx)
	if err != nil {
		return err
	}
	for _, args := range [][]string{{"ticks", pulse}, {"why-not", pulse, missed.Format(time.RFC3339)}, {"next", pulse, "--count", "3"}} {
		if _, err := d.show(ctx, append(args, "--log", d.logDir())...); err != nil {
			return err
		}
	}
	return nil
}

// awaitPulses waits until the log has two due times of the CronJob: one that started a Job, and one that did not. It
// returns the second.
func (d *demo) awaitPulses(ctx context.Context) (missed time.Time, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, pulsesWithin, fmt.Errorf("%s was not due twice within %s", pulse, pulsesWithin))
	defer cancel()
	var said error
	err = wait.PollUntilContextCancel(ctx, 200*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		select {
		case <-d.started.ended:
			return false, d.started.failure()
		default:
		}
		var text string
		if text, said = d.call(ctx, io.Discard, io.Discard, "ticks", pulse, "-o", "json", "--log", d.logDir()); said != nil {
			return false, nil // try again: the log does not know the CronJob yet
		}
		missed, said = missedPulse(text)
		return said == nil, nil
	})
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", context.Cause(ctx), said)
	}
	return missed, err
}

// missedPulse returns, from the output of jobledger ticks, the first due time that started no Job. If no other due
// time has started a Job yet, it returns an error.
func missedPulse(ticks string) (missed time.Time, err error) {
	var told struct {
		Items []struct {
			First time.Time
			Fate  string
		}
	}
	if err := json.Unmarshal([]byte(ticks), &told); err != nil {
		return missed, err
	}
	started := false
	for _, tick := range told.Items {
		if started = started || tick.Fate == "Started"; tick.Fate != "Started" && missed.IsZero() {
			missed = tick.First
		}
	}
	if !started || missed.IsZero() {
		return missed, fmt.Errorf("so far there are %d due times with a fate", len(told.Items))
	}
	return missed, nil
}
