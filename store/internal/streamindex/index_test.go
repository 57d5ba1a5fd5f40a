package streamindex

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/disk"
	"github.com/jobledger/jobledger/store/internal/index"
)

// storedJobs stores an index of that many Jobs with three records each, and opens it.
func storedJobs(t *testing.T, jobs int) (x *index.Index, path string, end store.Head, stored *Index) {
	t.Helper()
	x = index.New(1)
	for n := range 3 * jobs {
		end.Sequence++
		job := numbered(n / 3)
		x.Add(&events.Header{Sequence: end.Sequence, Stream: job}, index.Name{Namespace: "default", Name: job.ID})
	}
	path = filepath.Join(t.TempDir(), "x.idx")
	if err := disk.WriteFile(path, Encode(x, end, 7)); err != nil {
		t.Fatal(err)
	}
	stored, err := Open(path, 1, end)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stored.Close() })
	return x, path, end, stored
}

// TestAJobThatIsNotThereCostsNoRead: the index of a sealed file holds two bytes in memory for each stream. For a Job
// that the file does not have, it hardly ever reads the disk.
func TestAJobThatIsNotThereCostsNoRead(t *testing.T) {
	const jobs, asked = 20_000, 50_000
	_, _, _, stored := storedJobs(t, jobs)
	if stored.Youngest != 7 {
		t.Errorf("the youngest is %d", stored.Youngest)
	}
	if n := stored.Bytes(); n > 2*jobs {
		t.Errorf("%d bytes are held for %d streams", n, jobs)
	}
	if err := stored.file.Close(); err != nil {
		t.Fatal(err)
	}
	reads := 0
	for range asked {
		if _, err := stored.Run(events.JobStream(types.UID(rand.Text()))); err != nil {
			reads++
		}
	}
	t.Logf("%d bytes for %d streams; %d of %d questions wanted to read", stored.Bytes(), jobs, reads, asked)
	if reads > asked/100 {
		t.Errorf("%d of %d questions wanted to read", reads, asked)
	}
	for n := range jobs {
		if _, err := stored.Run(numbered(n)); err == nil {
			t.Fatalf("the filter does not know %s", numbered(n))
		}
	}
}

// TestADamagedIndexIsNeverBelieved: with any byte changed, the index gives right answers or says that it is damaged.
func TestADamagedIndexIsNeverBelieved(t *testing.T) {
	const jobs = 60
	x, path, end, _ := storedJobs(t, jobs)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found, spoilt := 0, filepath.Join(t.TempDir(), "spoilt.idx")
	for at := 0; at < len(content); at += 3 {
		bad := slices.Clone(content)
		bad[at] ^= 0x10
		if err := os.WriteFile(spoilt, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		stored, err := Open(spoilt, 1, end)
		if err != nil {
			found++
			continue
		}
		damaged := false
		for n := range jobs {
			s := numbered(n)
			run, err := stored.Run(s)
			if damaged = damaged || err != nil; err == nil && run.Len() != 3 {
				t.Fatalf("byte %d: %s has %d records", at, s, run.Len())
			}
			name := index.Name{Namespace: "default", Name: s.ID}
			namedStreams, err := stored.NamedStreams(name)
			if damaged = damaged || err != nil; err == nil && !slices.Equal(namedStreams, x.Bearers(name, end.Sequence)) {
				t.Fatalf("byte %d: %v is %v", at, name, namedStreams)
			}
		}
		if damaged {
			found++
		} else {
			t.Errorf("byte %d: nothing is found", at)
		}
		if err := stored.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d spoilt indexes of %d bytes", found, len(content))
	for n := 0; n < len(content); n += 50 {
		if err := os.WriteFile(spoilt, content[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(spoilt, 1, end); err == nil {
			t.Fatalf("the first %d bytes alone are taken for an index", n)
		}
	}
}

func numbered(n int) events.Stream {
	return events.JobStream(types.UID(fmt.Sprintf("%08x-1234-4678-8abc-0123456789ab", n)))
}
