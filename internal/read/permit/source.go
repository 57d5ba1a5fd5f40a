package permit

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// Right is the permission of one user.
type Right struct {
	Namespace string
	Since     events.Time // when the namespace was created, by the API server's clock; 0 also permits older objects
}

// Source is the permitted part of another source. Create it with Namespace.
type Source struct {
	all   history.Source
	right Right

	mu       sync.Mutex
	verdicts map[events.Stream]bool // of the streams that were read so far
	referred map[events.Sequence]bool
}

var _ history.Source = (*Source)(nil)

// Namespace returns the part of source all that right permits.
func Namespace(all history.Source, right Right) *Source {
	return &Source{all: all, right: right, verdicts: map[events.Stream]bool{}, referred: map[events.Sequence]bool{}}
}

// Note returns a remark for the user: answers count only this part of the log.
func (s *Source) Note() string {
	const text = "only records of namespace %s are counted: all others take 'list jobs' in all namespaces"
	return fmt.Sprintf(text, s.right.Namespace)
}

// Head is described by Source. It is the end of the whole log.
func (s *Source) Head(ctx context.Context) (events.Identity, store.Head, error) {
	return s.all.Head(ctx)
}

// Now is described by Source.
func (s *Source) Now(ctx context.Context) (events.Time, error) { return s.all.Now(ctx) }

// Beside is described by Source.
func (s *Source) Beside(err error) bool { return s.all.Beside(err) }

// Close is described by Source.
func (s *Source) Close() { s.all.Close() }

// Read is described by Source.
func (s *Source) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return s.through(ctx, s.all.Read(ctx, from))
}

// Follow is described by Source.
func (s *Source) Follow(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return s.through(ctx, s.all.Follow(ctx, from))
}

// ReadStream is described by Source.
func (s *Source) ReadStream(
	ctx context.Context, stream events.Stream, from events.Sequence, dir store.Direction,
) iter.Seq2[events.Record, error] {
	return s.ofStream(ctx, stream, func() iter.Seq2[events.Record, error] {
		return s.all.ReadStream(ctx, stream, from, dir)
	})
}

// ofStream returns records of a stream; none if the stream may not be read.
func (s *Source) ofStream(
	ctx context.Context, stream events.Stream, records func() iter.Seq2[events.Record, error],
) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		may, err := s.may(ctx, stream)
		switch {
		case err != nil:
			yield(events.Record{}, err)
		case may:
			s.through(ctx, records())(yield)
		}
	}
}

// Find is described by Source.
func (s *Source) Find(ctx context.Context, namespace, name string) (out []events.Stream, err error) {
	if namespace != s.right.Namespace {
		return nil, nil
	}
	all, unread := s.all.Find(ctx, namespace, name)
	for _, stream := range all {
		switch may, err := s.may(ctx, stream); {
		case err != nil && !s.all.Beside(err):
			return out, err
		case err != nil:
			unread = errors.Join(unread, err)
		case may:
			out = append(out, stream)
		}
	}
	return out, unread
}

// Records is described by Source.
func (s *Source) Records(ctx context.Context, q history.Query) iter.Seq2[events.Record, error] {
	if q.Namespace != "" && q.Namespace != s.right.Namespace {
		return func(func(events.Record, error) bool) {}
	}
	if q.Stream == nil && q.From == q.Through && s.wasReferred(q.From) {
		return s.all.Records(ctx, q)
	}
	limit := q.Limit
	records := func() iter.Seq2[events.Record, error] { return s.inPages(ctx, q) }
	if q.Stream != nil {
		return limited(s.ofStream(ctx, *q.Stream, records), limit)
	}
	return limited(s.through(ctx, records()), limit)
}

// mostAtOnce is the largest page of records that inPages asks for.
const mostAtOnce = 4096

// inPages returns the records of a query, ignoring its limit. It reads pages: the first has the query's limit, and each
// further one is four times as long, up to mostAtOnce. The caller stops as soon as enough records may be read, so a
// remote source sends few records too many.
func (s *Source) inPages(ctx context.Context, q history.Query) iter.Seq2[events.Record, error] {
	if q.Limit == 0 {
		return s.all.Records(ctx, q)
	}
	return func(yield func(events.Record, error) bool) {
		for q := q; ; {
			n := 0
			for r, err := range s.all.Records(ctx, q) {
				if !yield(r, err) || err != nil {
					return
				}
				n, q.From = n+1, r.Sequence+1
			}
			if n < q.Limit || q.Through != 0 && q.From > q.Through {
				return
			}
			q.Limit = max(q.Limit, min(4*q.Limit, mostAtOnce))
		}
	}
}

// limited returns at most limit records; 0 means no limit.
func limited(records iter.Seq2[events.Record, error], limit int) iter.Seq2[events.Record, error] {
	if limit == 0 {
		return records
	}
	return func(yield func(events.Record, error) bool) {
		n := 0
		for r, err := range records {
			if n++; !yield(r, err) || n == limit {
				return
			}
		}
	}
}

// through returns the records that may be read, each without what it says of other namespaces.
func (s *Source) through(ctx context.Context, records iter.Seq2[events.Record, error]) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range records {
			may := err != nil
			if err == nil {
				may, err = s.lets(ctx, &r)
			}
			if (may || err != nil) && !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// Jobs is described by Source.
func (s *Source) Jobs(ctx context.Context, q history.JobsQuery) (history.JobsPage, error) {
	if q.Namespace != "" && q.Namespace != s.right.Namespace {
		return history.JobsPage{Items: []history.Summary{}}, nil
	}
	q.Namespace = s.right.Namespace
	page, err := s.all.Jobs(ctx, q)
	kept := page.Items[:0:0]
	for i := range page.Items {
		may, failed := s.row(ctx, events.Time(page.Items[i].Created), events.StreamJob, page.Items[i].UID)
		if failed != nil && !s.all.Beside(failed) {
			return history.JobsPage{}, failed
		}
		if err = errors.Join(err, failed); may {
			kept = append(kept, page.Items[i])
		}
	}
	page.Items = kept
	return page, err
}

// CronJobs is described by Source.
func (s *Source) CronJobs(ctx context.Context, q history.CronJobsQuery) (history.CronJobsPage, error) {
	if q.Namespace != "" && q.Namespace != s.right.Namespace {
		return history.CronJobsPage{Items: []history.CronSummary{}}, nil
	}
	q.Namespace = s.right.Namespace
	page, err := s.all.CronJobs(ctx, q)
	kept := []history.CronSummary{}
	for i := range page.Items {
		may, failed := s.row(ctx, 0, events.StreamCronJob, page.Items[i].UID)
		if failed != nil && !s.all.Beside(failed) {
			return history.CronJobsPage{}, failed
		}
		if err = errors.Join(err, failed); may {
			kept = append(kept, page.Items[i])
		}
	}
	page.Items = kept
	return page, err
}
