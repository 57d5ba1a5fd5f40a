package history_test

import (
	"fmt"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sidebyside"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// BenchmarkReaders asks a log of 1,000,000 records what it asks one of 100,000 (of 200,000 and 20,000 with -short),
// each closed in good order and opened anew: the cost must be that of the answer. Both are read with the lists that a
// controller keeps.
func BenchmarkReaders(b *testing.B) {
	sizes := []int{1_000_000, 100_000}
	if testing.Short() {
		sizes = []int{200_000, 20_000}
	}
	logs := make([]string, len(sizes))
	for i, n := range sizes {
		logs[i] = bigLog(b, n)
	}
	for _, row := range []struct {
		name string
		ask  func(b *testing.B, src history.Local, j askedJob)
	}{
		{"page", func(b *testing.B, src history.Local, _ askedJob) { jobsPage(b, src, history.JobsQuery{Limit: 100}) }},
		{"since", func(b *testing.B, src history.Local, _ askedJob) {
			n := 0
			for _, err := range src.Records(b.Context(), history.Query{Since: src.Log.Head().Time.Add(-1)}) {
				if n++; err != nil {
					b.Fatal(err)
				}
			}
		}},
		{"job", func(b *testing.B, src history.Local, j askedJob) {
			if _, err := history.JobAt(b.Context(), src, j.find(b, src), history.Point{}); err != nil {
				b.Fatal(err)
			}
		}},
		{"at", func(b *testing.B, src history.Local, j askedJob) {
			if _, err := history.JobAt(b.Context(), src, j.find(b, src), history.Point{Sequence: events.Sequence(j.Last)}); err != nil {
				b.Fatal(err)
			}
		}},
		{"events", func(b *testing.B, src history.Local, j askedJob) {
			for _, err := range src.ReadStream(b.Context(), j.find(b, src), 0, store.Forward) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}},
	} {
		b.Run(row.name, func(b *testing.B) {
			var sides []sidebyside.Side
			for i, n := range sizes {
				_, close, src := opened(b, logs[i])
				j := middle(b, src)
				close()
				const times = 5
				sides = append(sides, sidebyside.Computing(fmt.Sprint(n), times, func() {
					for range times {
						_, close, src := opened(b, logs[i])
						row.ask(b, src, j)
						close()
					}
				}))
			}
			sidebyside.Compare(b, "answer", sides...)
		})
	}
}

// bigLog is the directory of a log with so many records, in files of 16 MiB.
func bigLog(b *testing.B, records int) string {
	dir := b.TempDir()
	log, err := boltlog.Open(dir, store.Options{RotateBytes: 16 << 20})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := joblog.Write(log, joblog.Config{Seed: 1, Records: records, Running: 100, Finished: 200, Waiting: 50, Single: 985}); err != nil {
		b.Fatal(err)
	}
	if err := joblist.NewKeeper(joblist.Config{Log: log, Files: log.Files, Dir: dir}, nil).Finish(b.Context()); err != nil {
		b.Fatal(err)
	}
	if err := log.Close(); err != nil {
		b.Fatal(err)
	}
	return dir
}

// opened opens a log as a command does.
func opened(b *testing.B, dir string) (log *boltlog.ReadOnly, close func(), src history.Local) {
	log, err := boltlog.OpenReadOnly(dir)
	if err != nil {
		b.Fatal(err)
	}
	return log, func() { _ = log.Close() }, history.Local{
		Log: log, Lists: joblist.New(joblist.Config{Log: log, Files: log.Files, Dir: dir}),
	}
}

func jobsPage(b *testing.B, src history.Local, q history.JobsQuery) history.JobsPage {
	page, err := src.Jobs(b.Context(), q)
	if err != nil || len(page.Items) == 0 {
		b.Fatal(len(page.Items), err)
	}
	return page
}

// askedJob is a Job in the middle of a log.
type askedJob struct {
	namespace, name string
	Last            uint64
}

func middle(b *testing.B, src history.Local) askedJob {
	at := fmt.Sprint(uint64(src.Log.Head().Sequence / 2))
	s := jobsPage(b, src, history.JobsQuery{Limit: 1, Continue: at}).Items[0]
	return askedJob{s.Namespace, s.Name, s.Last}
}

func (j *askedJob) find(b *testing.B, src history.Local) events.Stream {
	streams, err := src.Find(b.Context(), j.namespace, j.name)
	if err != nil || len(streams) == 0 {
		b.Fatal(streams, err)
	}
	return streams[0]
}
