package events

import pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"

// GroupSeen records which Workload and PodGroup, by which a Job's pods are scheduled together, a read from the API
// server found (J-239 to J-248). Their names are evidence, which no decision reads.
type GroupSeen struct {
	Workloads      int32 // number of Workloads that name the Job as their controller reference
	WorkloadUsable bool  // exactly one exists, the Job controls it, and it has one PodGroup template
	PodGroups      int32 // number of PodGroups made from that Workload
	PodGroupUsable bool  // exactly one exists, and the Job controls it
	Unavailable    bool  // Kubernetes 1.36: the API server does not serve these objects, or denies access
	// gang.minCount of the Workload's template and of the PodGroup; 0 for no gang, or when the two differ
	MinCount int32 `json:",omitempty"`
	// Delegated: the Workload belongs to the Job's owner. WorkloadUsable then means that it has the PodGroup template
	// that the Job names.
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
