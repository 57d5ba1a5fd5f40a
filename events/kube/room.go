package kube

import (
	"context"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// LogDiskFull is the reason of the Event on a Job that waits because the log has no room.
const LogDiskFull = "LogDiskFull"

const (
	// Largest number of Events about a full disk within roomAgain, for all Jobs together; each Job gets one at most
	roomEvents  = 100
	roomAgain   = time.Hour
	roomMessage = "The Job controller's log has no room on its disk: nothing is done for this Job until there is"
	roomNth     = 1 << 16 // number of the Alarm's Event in its name; Events of records have smaller ones
)

// Alarm tells users that their Jobs wait for room on the log's disk. A record about that would need room itself, so
// this is the only Event without a record of its own: it names the newest record of the log. Each Job gets at most one
// such Event in an hour, and at most 100 Jobs get one. Any goroutine may call the methods.
type Alarm struct {
	log     store.Reader
	writer  *writer
	pending chan Event

	mu    sync.Mutex
	since time.Time // start of the hour for which told counts
	told  map[types.UID]bool
}

// NewAlarm returns an Alarm that sends nothing until Run.
func NewAlarm(log store.Reader, client kubernetes.Interface, logger *slog.Logger) *Alarm {
	return &Alarm{
		log: log, writer: newWriter(client, log.Identity(), logger), pending: make(chan Event, roomEvents),
		told: map[types.UID]bool{},
	}
}

// Wants returns the number of Jobs that may get an Event now.
func (a *Alarm) Wants() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if time.Since(a.since) >= roomAgain {
		a.since = time.Now()
		clear(a.told)
	}
	return roomEvents - len(a.told)
}

// Tell queues an Event for each Job that has none yet, for at most Wants Jobs. It does not block.
func (a *Alarm) Tell(jobs []events.JobRef) {
	left, head := a.Wants(), a.log.Head().Sequence
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, job := range jobs {
		if left == 0 {
			return
		}
		if a.told[job.UID] {
			continue
		}
		a.told[job.UID] = true
		left--
		select {
		case a.pending <- Event{
			Job: job, Type: corev1.EventTypeWarning, Reason: LogDiskFull, Message: roomMessage, Record: head, At: events.At(time.Now()),
		}:
		default: // the queue is full: the API server has not accepted the Events of an hour ago
		}
	}
}

// Run sends the Events that Tell has queued, until ctx ends.
func (a *Alarm) Run(ctx context.Context) {
	for {
		select {
		case e := <-a.pending:
			if a.writer.write(ctx, e, roomNth) != nil && ctx.Err() != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
