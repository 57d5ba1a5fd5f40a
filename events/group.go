package events

import pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"

// GroupSeen has the Workload and the PodGroup that schedule a Job's pods together, as they were read (J-239 to J-248).
// The names are evidence.
type GroupSeen struct {
	Workloads      int32 // how many Workloads name the Job as what they are for
	WorkloadUsable bool  // there is one, the Job controls it, and it has one template of a PodGroup
	PodGroups      int32 // how many PodGroups were made of that Workload
	PodGroupUsable bool  // there is one, and the Job controls it
	Unavailable    bool  // the API server does not serve these objects, or not to us; of Kubernetes 1.36
	MinCount       int32 `json:",omitempty"` // of the Workload's template and of the PodGroup; 0 for no gang, or where they differ
	// Delegated: the Workload is of the Job's owner. WorkloadUsable then says that it has the template which the Job
	// names.
	Delegated bool `json:",omitempty"`

	Workload, PodGroup string
}

func (*GroupSeen) facts() factType { return factGroupSeen }

func groupToWire(f *GroupSeen, free *[]string) *pb.GroupSeen {
	*free = append(*free, f.Workload, f.PodGroup)
	return &pb.GroupSeen{
		Workloads: f.Workloads, WorkloadUsable: f.WorkloadUsable, PodGroups: f.PodGroups, PodGroupUsable: f.PodGroupUsable,
		Unavailable: f.Unavailable, MinCount: f.MinCount, Delegated: f.Delegated,
	}
}

func parseGroup(stored []byte, free []string) (Facts, error) {
	var m pb.GroupSeen
	if err := parse(stored, &m); err != nil {
		return nil, err
	}
	return groupFromWire(&m, &texts{all: free}), nil
}

func groupFromWire(w *pb.GroupSeen, t *texts) *GroupSeen {
	return &GroupSeen{
		Workloads: w.GetWorkloads(), WorkloadUsable: w.GetWorkloadUsable(),
		PodGroups: w.GetPodGroups(), PodGroupUsable: w.GetPodGroupUsable(), Unavailable: w.GetUnavailable(),
		MinCount: w.GetMinCount(), Delegated: w.GetDelegated(),
		Workload: t.take(), PodGroup: t.take(),
	}
}
