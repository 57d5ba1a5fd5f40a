package events

import pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"

// CommandToWire translates a command for a record or a stored state. It appends the messages of conditions, which are
// stored apart, to free, in order.
func CommandToWire(c Command, free *[]string) *pb.Command { return c.toWire(free) }

func (c *CreatePod) toWire(*[]string) *pb.Command {
	return &pb.Command{Kind: &pb.Command_CreatePod{CreatePod: &pb.CreatePod{
		Ordinal: c.Ordinal, IndexPlusOne: uint32(c.Index + 1), Template: c.Template,
		IndexFailures: c.IndexFailures, IndexIgnoredFailures: c.IndexIgnoredFailures, Again: c.Again, InGroup: c.InGroup,
	}}}
}

func (c *DeletePod) toWire(*[]string) *pb.Command {
	return &pb.Command{Kind: &pb.Command_DeletePod{DeletePod: &pb.DeletePod{Pod: uidToWire(c.Pod)}}}
}

func (c *DropFinalizer) toWire(*[]string) *pb.Command {
	return &pb.Command{Kind: &pb.Command_DropFinalizer{DropFinalizer: &pb.DropFinalizer{
		Pod: uidToWire(c.Pod), ThenDelete: c.ThenDelete, Version: c.Version,
	}}}
}

func (c *WriteStatus) toWire(free *[]string) *pb.Command {
	return &pb.Command{Kind: &pb.Command_WriteStatus{WriteStatus: &pb.WriteStatus{
		Base: c.Base, Change: changeToWire(&c.Change, free),
	}}}
}

func (c *AdoptPod) toWire(*[]string) *pb.Command {
	return &pb.Command{Kind: &pb.Command_AdoptPod{AdoptPod: &pb.AdoptPod{
		Pod: uidToWire(c.Pod), Version: c.Version, Spent: c.Spent, Mark: c.Mark,
	}}}
}

func (c *ReleasePod) toWire(*[]string) *pb.Command {
	return &pb.Command{Kind: &pb.Command_ReleasePod{ReleasePod: &pb.ReleasePod{Pod: uidToWire(c.Pod), Version: c.Version}}}
}

func (*ReadJob) toWire(*[]string) *pb.Command {
	return &pb.Command{Kind: &pb.Command_ReadJob{ReadJob: &pb.ReadJob{}}}
}

func (c *DeleteJob) toWire(*[]string) *pb.Command {
	return &pb.Command{Kind: &pb.Command_DeleteJob{DeleteJob: &pb.DeleteJob{
		Job: uidToWire(c.Job), Version: c.Version, Expired: int64(c.Expired),
	}}}
}

func (c *ReadPod) toWire(*[]string) *pb.Command {
	return &pb.Command{Kind: &pb.Command_ReadPod{ReadPod: &pb.ReadPod{
		Ordinal: c.Ordinal, IndexPlusOne: uint32(c.Index + 1),
	}}}
}

func (*FindGroup) toWire(*[]string) *pb.Command {
	return &pb.Command{Kind: &pb.Command_FindGroup{FindGroup: &pb.FindGroup{}}}
}

func (c *CreateWorkload) toWire(*[]string) *pb.Command {
	return &pb.Command{Kind: &pb.Command_CreateWorkload{CreateWorkload: &pb.CreateWorkload{MinCount: c.MinCount}}}
}

func (c *ResizeGroup) toWire(*[]string) *pb.Command {
	return &pb.Command{Kind: &pb.Command_ResizeGroup{ResizeGroup: &pb.ResizeGroup{MinCount: c.MinCount}}}
}

func (*CreatePodGroup) toWire(*[]string) *pb.Command {
	return &pb.Command{Kind: &pb.Command_CreatePodGroup{CreatePodGroup: &pb.CreatePodGroup{}}}
}

func (c *Withdraw) toWire(*[]string) *pb.Command {
	return &pb.Command{Kind: &pb.Command_Withdraw{Withdraw: &pb.Withdraw{Command: CommandNameToWire(c.Command)}}}
}

// CommandFromWire decodes a command that CommandToWire made. free holds the messages of conditions, in order; it is
// empty when they were erased.
func CommandFromWire(w *pb.Command, free []string) (Command, error) {
	return commandFromWire(w, &texts{all: free})
}

func commandFromWire(w *pb.Command, t *texts) (Command, error) {
	switch k := w.GetKind().(type) {
	case *pb.Command_CreatePod:
		c := k.CreatePod
		return &CreatePod{
			Ordinal: c.GetOrdinal(), Index: int32(c.GetIndexPlusOne()) - 1, Template: c.GetTemplate(),
			IndexFailures: c.GetIndexFailures(), IndexIgnoredFailures: c.GetIndexIgnoredFailures(), Again: c.GetAgain(), InGroup: c.GetInGroup(),
		}, nil
	case *pb.Command_DeletePod:
		return &DeletePod{Pod: uidFromWire(k.DeletePod.GetPod())}, nil
	case *pb.Command_DropFinalizer:
		c := k.DropFinalizer
		return &DropFinalizer{Pod: uidFromWire(c.GetPod()), ThenDelete: c.GetThenDelete(), Version: c.GetVersion()}, nil
	case *pb.Command_WriteStatus:
		return &WriteStatus{Base: k.WriteStatus.GetBase(), Change: changeFromWire(k.WriteStatus.GetChange(), t)}, nil
	case *pb.Command_AdoptPod:
		c := k.AdoptPod
		return &AdoptPod{
			Pod: uidFromWire(c.GetPod()), Version: c.GetVersion(), Spent: c.GetSpent(), Mark: c.GetMark(),
		}, nil
	case *pb.Command_ReleasePod:
		return &ReleasePod{Pod: uidFromWire(k.ReleasePod.GetPod()), Version: k.ReleasePod.GetVersion()}, nil
	case *pb.Command_ReadJob:
		return &ReadJob{}, nil
	case *pb.Command_DeleteJob:
		return &DeleteJob{
			Job: uidFromWire(k.DeleteJob.GetJob()), Version: k.DeleteJob.GetVersion(), Expired: Time(k.DeleteJob.GetExpired()),
		}, nil
	case *pb.Command_ReadPod:
		return &ReadPod{Ordinal: k.ReadPod.GetOrdinal(), Index: int32(k.ReadPod.GetIndexPlusOne()) - 1}, nil
	case *pb.Command_FindGroup:
		return &FindGroup{}, nil
	case *pb.Command_CreateWorkload:
		return &CreateWorkload{MinCount: k.CreateWorkload.GetMinCount()}, nil
	case *pb.Command_ResizeGroup:
		return &ResizeGroup{MinCount: k.ResizeGroup.GetMinCount()}, nil
	case *pb.Command_CreatePodGroup:
		return &CreatePodGroup{}, nil
	case *pb.Command_Withdraw:
		return &Withdraw{Command: CommandNameFromWire(k.Withdraw.GetCommand())}, nil
	}
	return runCommandFromWire(w)
}
