//go:build linux

package boltlog

import (
	"crypto/rand"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sidebyside"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest"
)

// BenchmarkPastOfANewJob asks for the newest record of a stream that no file holds. The logs have 10^5, 10^6 and 10^7
// records in up to 100 files (the first two with -short). It asks for a Job that may be as old as the log, and for one
// that is younger than all Jobs in the sealed files. A start asks this for each Job that it finds and does not know.
// The benchmark reports the memory of the filters.
func BenchmarkPastOfANewJob(b *testing.B) {
	counts := []int{1, 10, 100}
	if testing.Short() {
		counts = counts[:2]
	}
	const perFile, asked = 100_000, 1000
	streams := make([]events.Stream, asked)
	for i := range streams {
		streams[i] = events.JobStream(types.UID(rand.Text()))
	}
	var sides []sidebyside.Side
	memory, filtered := 0, 0
	for _, files := range counts {
		l, w := openTest(b, store.Options{RotateBytes: 20 << 20}, system)
		fillJobs(b, l, w, files*perFile, 10)
		l.background.Wait()
		n := len(l.files)
		for _, f := range l.files[:n-1] {
			memory, filtered = memory+f.stored.Bytes(), filtered+f.stored.Streams()
		}
		ask := func(name string, born events.Time) sidebyside.Side {
			return sidebyside.Computing(fmt.Sprintf("%s-%d-files", name, n), asked, func() {
				for _, s := range streams {
					if at, err := l.Newest(s, born); err != nil || at != 0 {
						b.Fatal(at, err)
					}
				}
			})
		}
		sides = append(sides, ask("any-age", 0), ask("new", storetest.Start.Add(1000*apart)))
	}
	sidebyside.Compare(b, "question", sides...)
	b.ReportMetric(float64(memory)/float64(filtered), "B/stream")
}
