package events

import (
	"errors"
	"fmt"
	"time"

	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

func decisionToWire(f *Decision, free *[]string) *pb.Decision {
	w := &pb.Decision{RulesVersion: f.RulesVersion}
	for _, s := range f.Steps {
		*free = append(*free, s.Sentence)
		step := &pb.Step{Stage: s.Stage, Rule: s.Rule, Reason: string(s.Reason)}
		for _, c := range s.Commands {
			step.Commands = append(step.Commands, CommandToWire(c, free))
		}
		w.Steps = append(w.Steps, step)
	}
	return w
}

func decisionFromWire(w *pb.Decision, t *texts) (Facts, error) {
	f := &Decision{RulesVersion: w.GetRulesVersion()}
	for _, s := range w.GetSteps() {
		step := Step{Stage: s.GetStage(), Rule: s.GetRule(), Reason: Reason(s.GetReason()), Sentence: t.take()}
		for _, c := range s.GetCommands() {
			command, err := commandFromWire(c, t)
			if err != nil {
				return nil, err
			}
			step.Commands = append(step.Commands, command)
		}
		f.Steps = append(f.Steps, step)
	}
	return f, nil
}

// CommandToWire translates a command for a record or a stored state. Condition messages join free, in order.
func CommandToWire(c Command, free *[]string) *pb.Command {
	switch c := c.(type) {
	case *CreatePod:
		return &pb.Command{Kind: &pb.Command_CreatePod{CreatePod: &pb.CreatePod{
			Ordinal: c.Ordinal, IndexPlusOne: uint32(c.Index + 1), Template: c.Template,
			IndexFailures: c.IndexFailures, IndexIgnoredFailures: c.IndexIgnoredFailures, Again: c.Again, InGroup: c.InGroup,
		}}}
	case *DeletePod:
		return &pb.Command{Kind: &pb.Command_DeletePod{DeletePod: &pb.DeletePod{Pod: uidToWire(c.Pod)}}}
	case *DropFinalizer:
		return &pb.Command{Kind: &pb.Command_DropFinalizer{DropFinalizer: &pb.DropFinalizer{
			Pod: uidToWire(c.Pod), ThenDelete: c.ThenDelete, Version: c.Version,
		}}}
	case *WriteStatus:
		return &pb.Command{Kind: &pb.Command_WriteStatus{WriteStatus: &pb.WriteStatus{
			Base: c.Base, Change: changeToWire(&c.Change, free),
		}}}
	case *AdoptPod:
		return &pb.Command{Kind: &pb.Command_AdoptPod{AdoptPod: &pb.AdoptPod{
			Pod: uidToWire(c.Pod), Version: c.Version, Spent: c.Spent, Mark: c.Mark,
		}}}
	case *ReleasePod:
		return &pb.Command{Kind: &pb.Command_ReleasePod{ReleasePod: &pb.ReleasePod{
			Pod: uidToWire(c.Pod), Version: c.Version,
		}}}
	case *ReadJob:
		return &pb.Command{Kind: &pb.Command_ReadJob{ReadJob: &pb.ReadJob{}}}
	case *ReadPod:
		return &pb.Command{Kind: &pb.Command_ReadPod{ReadPod: &pb.ReadPod{
			Ordinal: c.Ordinal, IndexPlusOne: uint32(c.Index + 1),
		}}}
	case *FindGroup:
		return &pb.Command{Kind: &pb.Command_FindGroup{FindGroup: &pb.FindGroup{}}}
	case *CreateWorkload:
		return &pb.Command{Kind: &pb.Command_CreateWorkload{CreateWorkload: &pb.CreateWorkload{MinCount: c.MinCount}}}
	case *CreatePodGroup:
		return &pb.Command{Kind: &pb.Command_CreatePodGroup{CreatePodGroup: &pb.CreatePodGroup{}}}
	case *Withdraw:
		return &pb.Command{Kind: &pb.Command_Withdraw{Withdraw: &pb.Withdraw{Command: CommandNameToWire(c.Command)}}}
	}
	panic(fmt.Sprintf("events: command of type %T has no wire form", c)) // the set is closed
}

// CommandFromWire is the inverse of CommandToWire; free holds the condition messages, or nothing when they were erased.
func CommandFromWire(w *pb.Command, free []string) (Command, error) {
	return commandFromWire(w, &texts{all: free})
}

var errCommand = errors.New("a command of a kind that this program does not know")

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
	case *pb.Command_ReadPod:
		return &ReadPod{Ordinal: k.ReadPod.GetOrdinal(), Index: int32(k.ReadPod.GetIndexPlusOne()) - 1}, nil
	case *pb.Command_FindGroup:
		return &FindGroup{}, nil
	case *pb.Command_CreateWorkload:
		return &CreateWorkload{MinCount: k.CreateWorkload.GetMinCount()}, nil
	case *pb.Command_CreatePodGroup:
		return &CreatePodGroup{}, nil
	case *pb.Command_Withdraw:
		return &Withdraw{Command: CommandNameFromWire(k.Withdraw.GetCommand())}, nil
	}
	return nil, errCommand
}

func changeToWire(c *StatusChange, free *[]string) *pb.StatusChange {
	return &pb.StatusChange{
		Active: c.Active, Ready: c.Ready, Terminating: c.Terminating, Succeeded: c.Succeeded, Failed: c.Failed,
		AddSucceeded: uidsToWire(c.AddSucceeded), AddFailed: uidsToWire(c.AddFailed), Counted: uidsToWire(c.Counted),
		CompleteIndexes: c.CompleteIndexes, FailIndexes: c.FailIndexes, TrimTo: c.TrimTo,
		SetFailedIndexes: c.SetFailedIndexes, ClearFailedIndexes: c.ClearFailedIndexes, InitUncounted: c.InitUncounted,
		StartTime: int64(c.StartTime), CompletionTime: int64(c.CompletionTime), ClearStartTime: c.ClearStartTime,
		Conditions: conditionsToWire(c.Conditions, free),
	}
}

func changeFromWire(w *pb.StatusChange, t *texts) StatusChange {
	if w == nil {
		return StatusChange{}
	}
	return StatusChange{
		Active: w.Active, Ready: w.Ready, Terminating: w.Terminating, Succeeded: w.Succeeded, Failed: w.Failed,
		AddSucceeded: uidsFromWire(w.GetAddSucceeded()), AddFailed: uidsFromWire(w.GetAddFailed()),
		Counted:         uidsFromWire(w.GetCounted()),
		CompleteIndexes: w.GetCompleteIndexes(), FailIndexes: w.GetFailIndexes(), TrimTo: w.TrimTo,
		SetFailedIndexes: w.GetSetFailedIndexes(), ClearFailedIndexes: w.GetClearFailedIndexes(),
		InitUncounted: w.GetInitUncounted(),
		StartTime:     Time(w.GetStartTime()), CompletionTime: Time(w.GetCompletionTime()),
		ClearStartTime: w.GetClearStartTime(),
		Conditions:     conditionsFromWire(w.GetConditions(), t),
	}
}

// CommandNameToWire translates a command's name.
func CommandNameToWire(n CommandName) *pb.CommandName {
	return &pb.CommandName{Decided: uint64(n.Decided), Place: n.Place}
}

// CommandNameFromWire is the inverse of CommandNameToWire.
func CommandNameFromWire(w *pb.CommandName) CommandName {
	return CommandName{Decided: Sequence(w.GetDecided()), Place: w.GetPlace()}
}

func endedToWire(f *CommandEnded) *pb.CommandEnded {
	return &pb.CommandEnded{
		Command: CommandNameToWire(f.Command), Ending: pb.Ending(f.Ending), Uid: uidToWire(f.UID), Version: f.Version,
		Class: pb.RefusalClass(f.Class), RetryAfter: int64(f.RetryAfter), Sent: f.Sent, Over: f.Over, Written: int64(f.Written) / int64(time.Second),
	}
}

func endedFromWire(w *pb.CommandEnded) (Facts, error) {
	return &CommandEnded{
		Command: CommandNameFromWire(w.GetCommand()), Ending: Ending(w.GetEnding()), UID: uidFromWire(w.GetUid()),
		Version: w.GetVersion(), Class: RefusalClass(w.GetClass()), RetryAfter: time.Duration(w.GetRetryAfter()),
		Sent: w.GetSent(), Over: w.GetOver(), Written: Time(w.GetWritten() * int64(time.Second)),
	}, nil
}
