package projector

import (
	"slices"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// view tells how much of the cluster's state the log has recorded. World embeds it.
type view struct {
	Listing bool                       // objects are being listed: nothing is decided before that ends
	pending []events.Resource          // resources whose listing has not ended
	newest  map[events.Resource]uint64 // newest known resourceVersion of each resource
}

func newView() view { return view{newest: map[events.Resource]uint64{}} }

// apply updates v by a record of the controller's own stream. cronJobs says whether CronJobs are watched.
func (v *view) apply(rec *events.Record, cronJobs bool) {
	switch f := rec.Facts.(type) {
	// After a rewind (restore of the cluster) these versions do not exist any more: list everything again
	case *events.EpochChanged:
		clear(v.newest)
		v.list(events.Jobs, events.Pods)
		if cronJobs {
			v.list(events.CronJobs)
		}
	case *events.ControllerStopped:
		v.Listing = true // nothing is decided until the next process has listed all objects
	case *events.ListingStarted:
		v.list(f.Resources...)
	case *events.Synced:
		for i, r := range f.Resources {
			v.see(r, f.Versions[i])
		}
		v.pending = slices.DeleteFunc(v.pending, func(r events.Resource) bool { return slices.Contains(f.Resources, r) })
		v.Listing = len(v.pending) > 0
	}
}

// list begins a listing of resources. It ends when a record says of each that it is synced. list copies pending,
// because an encoded state may share the slice.
func (v *view) list(resources ...events.Resource) {
	v.Listing, v.pending = true, slices.Clone(v.pending)
	for _, r := range resources {
		if !slices.Contains(v.pending, r) {
			v.pending = append(v.pending, r)
		}
	}
}

func (v *view) see(r events.Resource, version uint64) { v.newest[r] = max(v.newest[r], version) }

// ToWire adds the fields of v to the encoded state of the controller.
func (v *view) ToWire(s *pb.WorldState) {
	s.Listing, s.Newest = v.Listing, map[uint32]uint64{}
	for _, r := range v.pending {
		s.Pending = append(s.Pending, pb.Resource(r))
	}
	for r, version := range v.newest {
		s.Newest[uint32(r)] = version
	}
}

// FromWire takes the fields of v from the encoded state of the controller.
func (v *view) FromWire(s *pb.WorldState) {
	v.Listing = s.GetListing()
	for _, r := range s.GetPending() {
		v.pending = append(v.pending, events.Resource(r))
	}
	for r, version := range s.GetNewest() {
		v.newest[events.Resource(r)] = version
	}
}
