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

// LogDiskFull is the reason of the Event on a Job for which nothing is done because the log has no room.
const LogDiskFull = "LogDiskFull"

const (
	roomEvents  = 100 // Events of a full disk within roomAgain, in all; and one for each Job
	roomAgain   = time.Hour
	roomMessage = "The Job controller's log has no room on its disk: nothing is done for this Job until there is"
	roomNth     = 1 << 16 // its place among the Events of a record, behind those that Of makes
)

// Alarm tells users that their Jobs wait for room on the log's disk. No record can say so, because there is no room for
// one, so this is the only Event that is made from none: it bears the log's newest record, and is told once for a Job
// within an hour, for some hundred Jobs at most. Its methods may be called from any goroutine.
type Alarm struct {
	log     store.Reader
	writer  *writer
	pending chan Event

	mu    sync.Mutex
	since time.Time // when told began
	told  map[types.UID]bool
}

// NewAlarm returns an alarm that tells nothing until Run.
func NewAlarm(log store.Reader, client kubernetes.Interface, logger *slog.Logger) *Alarm {
	return &Alarm{
		log: log, writer: newWriter(client, log.Identity(), logger), pending: make(chan Event, roomEvents),
		told: map[types.UID]bool{},
	}
}

// Wants is how many more Jobs may be told now.
func (a *Alarm) Wants() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if time.Since(a.since) >= roomAgain {
		a.since = time.Now()
		clear(a.told)
	}
	return roomEvents - len(a.told)
}

// Tell tells those of the Jobs that were not told, as far as Wants goes. It does not wait for the API server.
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
		default: // the API server has not taken those of an hour ago
		}
	}
}

// Run writes the Events until ctx ends.
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
