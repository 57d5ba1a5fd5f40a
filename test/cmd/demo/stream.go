package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// streamed prints the address of the NATS stream, which has all records; its server runs in the controller's process.
func (d *demo) streamed(ctx context.Context) error {
	messages, err := d.awaitStream(ctx)
	if err != nil {
		return err
	}
	url, err := d.natsURL()
	if err != nil {
		return err
	}
	d.say("\nAll records are on NATS too: %s messages on jobledger.v1.default.>, for any NATS client at\n%s", messages, url)
	return nil
}

// awaitPublished returns when the NATS stream has the first record about the Job that the subscriber follows.
func (d *demo) awaitPublished(ctx context.Context) error {
	err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		text, err := d.call(ctx, io.Discard, io.Discard, "events", "--kind", "JobAdded", "--log", d.logDir())
		return strings.Contains(text, " "+failed+" "), err
	})
	if err != nil {
		return fmt.Errorf("the log does not know job/%s: %w", failed, err)
	}
	_, err = d.awaitStream(ctx)
	return err
}

// awaitStream returns when the NATS stream has every record, and how many messages it then has.
func (d *demo) awaitStream(ctx context.Context) (messages string, err error) {
	var lag string
	err = wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		all, err := metrics(ctx, d.started.server)
		lag, messages = all["jobledger_nats_lag_records"], all["jobledger_nats_messages_total"]
		return lag == "0", err
	})
	if err != nil {
		return "", fmt.Errorf("records are missing in the NATS stream (%s): %w", lag, context.Cause(ctx))
	}
	return messages, nil
}

// natsURL returns the address of the controller's NATS server, which the controller writes into the log's directory.
func (d *demo) natsURL() (string, error) {
	text, err := os.ReadFile(filepath.Join(d.logDir(), "NATS"))
	return strings.TrimSpace(string(text)), err
}

// metrics reads the controller's metrics, and returns the values of those without labels, by name.
func metrics(ctx context.Context, server string) (map[string]string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	all := map[string]string{}
	lines := bufio.NewScanner(io.LimitReader(response.Body, 10<<20))
	for lines.Scan() {
		if name, value, ok := strings.Cut(lines.Text(), " "); ok && name != "#" {
			all[name] = value
		}
	}
	return all, lines.Err()
}
