package projector

import (
	"fmt"
	"runtime"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// TestARetiredJobIsSmall: 100,000 retired Jobs take no more memory than as values in a map. Names are left out: they
// are the same in both.
func TestARetiredJobIsSmall(t *testing.T) {
	type value struct { // the form of a retired Job before it was a subject
		Ref      events.JobRef
		Version  uint64
		Finished events.Time
		TTL      int32
		Head     events.Sequence
	}
	const n = 100_000
	uids := make([]types.UID, n)
	for i := range uids {
		uids[i] = types.UID(fmt.Sprint("uid-", i))
	}
	before := allocated(func() any {
		kept := map[types.UID]value{}
		for i, uid := range uids {
			kept[uid] = value{Ref: events.JobRef{UID: uid}, Version: uint64(i)}
		}
		return kept
	})
	now := allocated(func() any {
		w := NewWorld()
		for i, uid := range uids {
			j := Job{Ref: events.JobRef{UID: uid}, Version: uint64(i)}
			w.retired[uid] = j.retire()
		}
		return w
	})
	t.Logf("%d bytes for each retired Job, %d as a value in the map", now/n, before/n)
	if now > before {
		t.Errorf("a retired Job takes %d bytes, more than %d", now/n, before/n)
	}
}

// allocated returns how much memory the result of made holds.
func allocated(made func() any) uint64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	kept := made()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(kept)
	return after.HeapAlloc - before.HeapAlloc
}
