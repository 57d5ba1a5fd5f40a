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

// Right says what one user may read: one namespace.
type Right struct {
	Namespace string
	Since     events.Time // when the API server created the namespace; 0 also permits older objects
}

// Source is a log limited to the part that one user may read. Create it with Namespace.
type Source struct {
	all   history.Source
	right Right

	mu       sync.Mutex
	verdicts map[events.Stream]bool // whether the user may read a stream (the records about one object); a cache
	referred map[events.Sequence]bool
}

var _ history.Source = (*Source)(nil)

// Namespace returns the part of the log all that right permits: the records of one namespace.
func Namespace(all history.Source, right Right) *Source {
	return &Source{all: all, right: right, verdicts: map[events.Stream]bool{}, referred: map[events.Sequence]bool{}}
}

// Note returns the remark for the user that answers cover only this namespace.
func (s *Source) Note() string {
	const text = "only records of namespace %s are counted: all others take 'list jobs' in all namespaces"
	return fmt.Sprintf(text, s.right.Namespace)
}

// Head implements history.Source: it returns the identity of the log, and the end of the whole log.
func (s *Source) Head(ctx context.Context) (events.Identity, store.Head, error) {
	return s.all.Head(ctx)
}

// Now implements history.Source: it returns the present time.
func (s *Source) Now(ctx context.Context) (events.Time, error) { return s.all.Now(ctx) }

// Beside implements history.Source: it reports whether err is only damage of the log, which an answer can name.
func (s *Source) Beside(err error) bool { return s.all.Beside(err) }

// Close implements history.Source: it closes the log.
func (s *Source) Close() { s.all.Close() }

// Read implements history.Source: it returns those records, from record from on, that the user may read.
func (s *Source) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return s.through(ctx, s.all.Read(ctx, from))
}

// Follow implements history.Source: it returns those records, from record from on, that the user may read. At the end
// it waits for new ones.
func (s *Source) Follow(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return s.through(ctx, s.all.Follow(ctx, from))
}

// ReadStream implements history.Source: it returns those records of one stream (the records about one object) that the
// user may read.
func (s *Source) ReadStream(
	ctx context.Context, stream events.Stream, from events.Sequence, dir store.Direction,
) iter.Seq2[events.Record, error] {
	return s.ofStream(ctx, stream, func() iter.Seq2[events.Record, error] {
		return s.all.ReadStream(ctx, stream, from, dir)
	})
}

// ofStream returns records (of the given stream) if the user may read the stream; otherwise none.
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

// Find implements history.Source: it returns the streams of the Jobs and CronJobs with a name that the user may read.
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

// Records implements history.Source: it returns those records that a query selects and the user may read.
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

// mostAtOnce is the largest number of records that inPages requests at once.
const mostAtOnce = 4096

// inPages returns the records of a query, ignoring its limit. It reads pages: the first has the query's limit, and each
// further one is four times as long, up to mostAtOnce. The caller stops as soon as enough records may be read, so a
// remote source sends few records too many. The bound of the query on what is looked at counts for all pages together.
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
			if q.Looks != 0 {
				if q.Looks -= n; q.Looks <= 0 {
					yield(events.Record{}, &history.MoreError{At: q.From})
					return
				}
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

// through returns those records that the user may read, without their parts about other namespaces.
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

// Jobs implements history.Source: it returns the Jobs of a query that the user may see.
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

// CronJobs implements history.Source: it returns the CronJobs of a query that the user may see.
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
