package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats/dial"
	"github.com/jobledger/jobledger/events/nats/subscribe"
)

// streamed creates Jobs at a steady pace, while a subscriber to Jobledger's NATS stream notes when it receives the ends
// of their pods. The subscriber uses our Go package, as any program may. It runs in this process, beside the stopwatch.
func streamed(ctx context.Context, r *run, s sizes) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	ended := make(chan error, 1)
	begun := make(chan struct{})
	go func() { // this goroutine ends when ctx ends
		err := r.listen(ctx, begun)
		if err != nil {
			cancel(err)
		}
		ended <- err
	}()
	defer func() {
		cancel(nil)
		err = errors.Join(err, <-ended)
	}()
	select {
	case <-begun:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := steadily(ctx, r, s); err != nil {
		return err
	}
	if err := r.await(ctx, func(f *field) bool { return f.delivered == len(r.shapes) }); err != nil {
		return fmt.Errorf("wait until the subscriber has the ends of all pods: %w", err)
	}
	return nil
}

// listen reads all events of the NATS stream until ctx ends. It closes begun at the first event, which comes before the
// events of the workload.
func (r *run) listen(ctx context.Context, begun chan<- struct{}) error {
	url, err := os.ReadFile(filepath.Join(logIn(r.dir), "NATS"))
	if err != nil {
		return fmt.Errorf("find the NATS server of %s: %w", r.contender.name, err)
	}
	secret, err := os.ReadFile(filepath.Join(logIn(r.dir), "NATS.reader"))
	// If the program is an older one, which can be compared with this one, the file does not exist.
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the secret for readers of %s: %w", r.contender.name, err)
	}
	conn, err := dial.Config{URL: strings.TrimSpace(string(url))}.Connect(natsgo.UserInfo("reader", strings.TrimSpace(string(secret))))
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	var once sync.Once
	return subscribe.Run(ctx, js, subscribe.Config{Cluster: "default", Start: subscribe.All()}, func(_ context.Context, e *subscribe.Event) error {
		once.Do(func() { close(begun) })
		pod, ok := e.Record.Facts.(*events.PodSeen)
		if ok && (pod.Phase == events.PodSucceeded || pod.Phase == events.PodFailed) {
			r.watch.podDelivered(e.Job.Namespace, e.Job.Name)
		}
		return nil
	})
}
