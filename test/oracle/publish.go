package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/kube"
	"github.com/jobledger/jobledger/store"
)

// publish counts the Kubernetes Events that Jobledger publishes from all of its logs.
func (o *ours) publish() error {
	kept := &eventStore{events: map[string]*corev1.Event{}}
	config := &rest.Config{Host: "http://oracle", QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	client, err := kubernetes.NewForConfigAndClient(config, &http.Client{Transport: kept})
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	for _, log := range o.logs {
		log.Commit(math.MaxInt)
		for to := events.Sequence(0); to < log.Head().Sequence; {
			to = min(to+few, log.Head().Sequence)
			publisher, err := kube.New(kube.Config{
				Log: &prefix{log, to}, Client: client, Mode: o.settings.Mode, MaxAge: math.MaxInt64, Logger: slog.New(slog.DiscardHandler),
			})
			if err != nil {
				return err
			}
			if err := publisher.CatchUp(context.Background()); err != nil {
				return err
			}
		}
	}
	for _, e := range kept.events {
		o.told(eventKey{e.InvolvedObject.Name, e.Type, e.Reason, e.Message}, int(e.Count))
	}
	return nil
}

// few is how many records each publisher gets. With more than ten similar Events, client-go would replace them by a
// single one that names no pod.
const few = 8

// prefix is a log that ends with the record `to` of another, longer log.
type prefix struct {
	store.Log
	to events.Sequence
}

// Read yields the records from record from through the record to.
func (p *prefix) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for rec, err := range p.Log.Read(ctx, from) {
			if err == nil && rec.Sequence > p.to || !yield(rec, err) {
				return
			}
		}
	}
}

// eventStore is an HTTP transport that stores Kubernetes Events, in place of an API server.
type eventStore struct {
	mu     sync.Mutex
	events map[string]*corev1.Event
}

// RoundTrip answers one request: it creates an Event, or raises its count.
func (s *eventStore) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	stored, code := &corev1.Event{}, http.StatusCreated
	if r.Method == http.MethodPatch {
		code = http.StatusOK
		path := strings.Split(r.URL.Path, "/")
		if stored = s.events[path[len(path)-1]]; stored == nil {
			return nil, fmt.Errorf("no event %s", r.URL.Path)
		}
		// A patch contains only the changed fields, so decode it into the stored Event.
		err = json.Unmarshal(body, stored)
	} else {
		_, _, err = scheme.Codecs.UniversalDeserializer().Decode(body, nil, stored)
	}
	if err != nil {
		return nil, fmt.Errorf("decode an Event: %w", err)
	}
	s.events[stored.Name] = stored
	stored.APIVersion, stored.Kind = "v1", "Event"
	return (&transport{}).respond(r, code, stored)
}
