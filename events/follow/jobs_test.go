package follow

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// counted counts the questions to a log.
type counted struct {
	store.Reader
	asked int
}

func (c *counted) ReadStream(ctx context.Context, s events.Stream, from events.Sequence, d store.Direction) iter.Seq2[events.Record, error] {
	c.asked++
	return c.Reader.ReadStream(ctx, s, from, d)
}

// TestJobsThatEndedAreForgotten: records after a Job's retirement, up to the end of its deletion, keep the Job for a
// while, and ask the log at most once. So do the many pods of a Job that is gone.
func TestJobsThatEndedAreForgotten(t *testing.T) {
	const jobs, pods = 3 * maxEnded, 500
	var records []events.Record
	last := map[events.Stream]events.Sequence{}
	add := func(stream events.Stream, name string, kind events.Kind, f events.Facts) {
		at := events.Sequence(len(records) + 1)
		h := events.Header{Sequence: at, Time: events.Time(at), Stream: stream, Kind: kind, Previous: last[stream], Last: true}
		records = append(records, events.Record{Header: h, Facts: f, Evidence: events.Evidence{Namespace: "ns", Name: name}})
		last[stream] = at
	}
	add(events.Controller, "", events.KindLogCreated, &events.LogCreated{LogID: "0f0f", Epoch: 1, Format: events.LeastFormat})
	for n := range jobs {
		name := fmt.Sprintf("job-%d", n)
		stream := events.JobStream(types.UID("uid-" + name))
		add(stream, name, events.KindJobAdded, &events.JobSeen{})
		add(stream, "", events.KindJobRetired, &events.JobRetired{})
	}
	for n := range jobs { // long after, when they are forgotten
		name := fmt.Sprintf("job-%d", n)
		stream := events.JobStream(types.UID("uid-" + name))
		add(stream, "", events.KindTimerFired, &events.TimerFired{})
		add(stream, "", events.KindDecided, &events.Decision{Steps: []events.Step{{Commands: []events.Command{&events.DeleteJob{}}}}})
		end := &events.CommandEnded{Command: events.CommandID{Decided: events.Sequence(len(records))}, Ending: events.Done}
		if n%2 == 0 {
			add(stream, "", events.KindCommandEnded, end)
		}
		add(stream, name, events.KindJobDeleted, &events.JobGone{})
		if n%2 != 0 {
			add(stream, "", events.KindCommandEnded, end)
		}
	}
	big := events.JobStream("uid-big")
	add(big, "big", events.KindJobAdded, &events.JobSeen{})
	add(big, "big", events.KindJobDeleted, &events.JobGone{})
	for range pods {
		add(big, "", events.KindPodDeleted, &events.PodGone{})
	}
	add(big, "big", events.KindJobChanged, &events.JobSeen{}) // named once more, as by a late list

	log := &counted{Reader: rewritten(t, records)}
	remembered := Jobs{Log: log}
	for i := range records[1:] {
		r := &records[i+1]
		got, err := remembered.Of(t.Context(), r)
		if err != nil || "uid-"+got.Name != r.Stream.ID {
			t.Fatalf("record %d of %s is about %v, %v", r.Sequence, r.Stream.ID, got, err)
		}
		remembered.Shown(r)
	}
	if n := len(remembered.known); n > 0 {
		t.Errorf("%d Jobs are remembered as if they went on", n)
	}
	if n := len(remembered.ended); n > maxEnded {
		t.Errorf("%d Jobs that ended are remembered", n)
	}
	if log.asked > jobs {
		t.Errorf("the log was asked %d times about %d Jobs", log.asked, jobs)
	}
}
