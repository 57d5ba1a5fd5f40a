package main

import (
	"context"
	"crypto/sha256"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/show"
)

// jobsSeen remembers how the Jobs of a list were shown last.
type jobsSeen struct {
	jobsOut
	people bool                 // they see a table, which has less than all
	shown  map[string]lastShown // by UID
}

type lastShown struct {
	said [sha256.Size]byte // the digest of what was said of the Job, but how many records there are
	last events.Sequence   // the newest record of the Job
}

func (s *jobsSeen) add(jobs []history.Summary) error {
	for i := range jobs {
		if _, err := s.changed(&jobs[i]); err != nil {
			return err
		}
	}
	return s.jobsOut.add(jobs)
}

// changed reports whether a Job is another than it was shown last, and takes it for shown.
func (s *jobsSeen) changed(j *history.Summary) (bool, error) {
	bare := *j
	bare.Records, bare.Last = 0, 0
	if s.people {
		bare.Counts.Ready, bare.Counts.Terminating, bare.Counts.Creating = 0, 0, 0
	}
	text, err := show.Indented(&bare)
	if err != nil {
		return false, err
	}
	said := sha256.Sum256(text)
	before, known := s.shown[j.UID]
	if known && (j.Last <= uint64(before.last) || before.said == said) {
		return false, nil
	}
	if s.shown == nil {
		s.shown = map[string]lastShown{}
	}
	s.shown[j.UID] = lastShown{said, events.Sequence(j.Last)}
	return true, nil
}

// watchJobs shows each Job that a batch of records changed, from a record on, if it is one of those that are wanted then.
func watchJobs(ctx context.Context, src history.Source, out *jobsSeen, wanted history.JobsQuery, from events.Sequence) error {
	watch := history.LiveJobs(src)
	for end, err := range changes(ctx, src, watch, from) {
		if err != nil {
			return err
		}
		if err := out.again(watch, end.changed, &wanted); err != nil {
			return err
		}
	}
	return nil
}

// again shows those of the Jobs that changed.
func (s *jobsSeen) again(watch *history.Live, touched []events.Stream, wanted *history.JobsQuery) error {
	for _, stream := range touched {
		j, ok := watch.Summary(stream)
		if !ok || !wanted.Wants(&j) {
			continue
		}
		changed, err := s.changed(&j)
		if err != nil {
			return err
		}
		if !changed {
			continue
		}
		if err := s.jobsOut.add([]history.Summary{j}); err != nil {
			return err
		}
		if err := s.jobsOut.end(history.JobsPage{}); err != nil {
			return err
		}
	}
	return nil
}
