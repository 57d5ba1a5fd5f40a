package events

import (
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
		step.Cron = cronStepToWire(s.Cron, free)
		w.Steps = append(w.Steps, step)
	}
	return w
}

func parseDecision(stored []byte, free []string) (Facts, error) {
	var m pb.Decision
	if err := parse(stored, &m); err != nil {
		return nil, err
	}
	return decisionFromWire(&m, &texts{all: free})
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
		step.Cron = cronStepFromWire(s.GetCron(), t)
		f.Steps = append(f.Steps, step)
	}
	return f, nil
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

// CommandNameToWire translates a command's ID for a record or a stored state.
func CommandNameToWire(n CommandID) *pb.CommandName {
	return &pb.CommandName{Decided: uint64(n.Decided), Place: n.Place}
}

// CommandNameFromWire decodes a command's ID that CommandNameToWire made.
func CommandNameFromWire(w *pb.CommandName) CommandID {
	return CommandID{Decided: Sequence(w.GetDecided()), Place: w.GetPlace()}
}

func endedToWire(f *CommandEnded) *pb.CommandEnded {
	pod := f.Pod
	if pod == f.UID && f.Type.changesPod() {
		pod = "" // not stored twice: the field UID has the same pod
	}
	return &pb.CommandEnded{
		Type: uint32(f.Type), Ordinal: f.Ordinal, Pod: uidToWire(pod),
		Command: CommandNameToWire(f.Command), Ending: pb.Ending(f.Ending), Uid: uidToWire(f.UID), Version: f.Version,
		Class: pb.RefusalClass(f.Class), RetryAfter: int64(f.RetryAfter), Sent: f.Sent, Over: f.Over, Written: int64(f.Written) / int64(time.Second),
		Run: uidToWire(f.Run), Due: int64(f.Due), Replacing: f.Replacing,
	}
}

func endedFromWire(w *pb.CommandEnded) *CommandEnded {
	f := &CommandEnded{
		Type: CommandKind(w.GetType()), Ordinal: w.GetOrdinal(), Pod: uidFromWire(w.GetPod()),
		Command: CommandNameFromWire(w.GetCommand()), Ending: Ending(w.GetEnding()), UID: uidFromWire(w.GetUid()),
		Version: w.GetVersion(), Class: RefusalClass(w.GetClass()), RetryAfter: time.Duration(w.GetRetryAfter()),
		Sent: w.GetSent(), Over: w.GetOver(), Written: Time(w.GetWritten() * int64(time.Second)),
		Run: uidFromWire(w.GetRun()), Due: Time(w.GetDue()), Replacing: w.GetReplacing(),
	}
	if f.Pod == "" && f.Type.changesPod() {
		f.Pod = f.UID
	}
	return f
}
