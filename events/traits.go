package events

import (
	"iter"
	"strconv"

	"k8s.io/apimachinery/pkg/types"
)

// CommandKind is the type of a command. Its numbers are the ones of the oneof in decision.proto, and never change.
type CommandKind uint8

// The kinds of commands.
const (
	CommandCreatePod      CommandKind = 1
	CommandDeletePod      CommandKind = 2
	CommandDropFinalizer  CommandKind = 3
	CommandWriteStatus    CommandKind = 4
	CommandAdoptPod       CommandKind = 5
	CommandReleasePod     CommandKind = 6
	CommandReadJob        CommandKind = 7
	CommandReadPod        CommandKind = 8
	CommandWithdraw       CommandKind = 9
	CommandCreateJob      CommandKind = 10
	CommandDeleteJob      CommandKind = 11
	CommandCreateWorkload CommandKind = 12
	CommandCreatePodGroup CommandKind = 13
	CommandFindGroup      CommandKind = 14

	CommandDeleteRun       CommandKind = 15
	CommandWriteCronStatus CommandKind = 16
	CommandReadCronJob     CommandKind = 17
	CommandReadRun         CommandKind = 18

	CommandResizeGroup CommandKind = 19

	// MaxCommandKind is the highest of them: the size of a table by kind.
	MaxCommandKind = CommandResizeGroup
)

// Traits are the properties that all commands of one kind share. A property of a single command, such as its pod or the
// urgency of a status write, is a method of its type in command.go.
type Traits struct {
	Kind CommandKind
	Name string // of its type and of its message in the schema; in metrics
	Verb string // what it does, for people
	Many string // what several do together; a format for their number
	// Target is the object that it is about.
	Target Target
	// Priority is how urgent it is, unless its type has a method priority.
	Priority Priority
	// Retried: refused for a reason that may pass, it stays in flight and is asked again as it is. Others end then, and
	// what is next is decided from what is known by then.
	Retried bool
	// Slot is the place that it takes at its target; 0 when it takes none.
	Slot Slot
	// Backoff says with which others its refusals are counted.
	Backoff Backoff
	// Reads: it changes nothing in the cluster. What it finds arrives as an observation.
	Reads bool
	// Sort is with which other commands its newest failure is shown.
	Sort Sort
	// Call is the request that takes its effect, as failpoints name it; empty when it makes none.
	Call string

	zero func() Command
}

// traits has one row for each kind of command.
var traits = [MaxCommandKind + 1]Traits{
	CommandCreatePod: {
		Kind: CommandCreatePod, Name: "CreatePod", Verb: "create pod", Many: "create %d pods",
		Target: TargetNewPod, Priority: PriorityBulk, Retried: true, Sort: SortCreate, Call: "create-pod",
		Slot: SlotCreate, Backoff: BackoffCreates,
		zero: func() Command { return &CreatePod{} },
	},
	CommandDeletePod: {
		Kind: CommandDeletePod, Name: "DeletePod", Verb: "delete pod", Many: "delete %d pods",
		Target: TargetPod, Priority: PriorityUnblock, Retried: true, Sort: SortChange, Call: "delete-pod",
		Slot: SlotDelete,
		zero: func() Command { return &DeletePod{} },
	},
	CommandDropFinalizer: {
		Kind: CommandDropFinalizer, Name: "DropFinalizer", Verb: "remove finalizer", Many: "remove the finalizers of %d pods",
		Target: TargetPod, Priority: PriorityBulk, Retried: true, Sort: SortChange, Call: "patch-pod",
		Slot: SlotFinalizer,
		zero: func() Command { return &DropFinalizer{} },
	},
	CommandWriteStatus: {
		Kind: CommandWriteStatus, Name: "WriteStatus", Verb: "write status", Many: "write status %d times",
		Target: TargetJob, Priority: PriorityUnblock, Sort: SortWrite, Call: "update-status",
		Slot: SlotStatus, Backoff: BackoffWrites,
		zero: func() Command { return &WriteStatus{} },
	},
	CommandAdoptPod: {
		Kind: CommandAdoptPod, Name: "AdoptPod", Verb: "adopt pod", Many: "adopt %d pods",
		Target: TargetPod, Priority: PriorityUnblock, Sort: SortChange, Call: "patch-pod",
		Slot: SlotClaim,
		zero: func() Command { return &AdoptPod{} },
	},
	CommandReleasePod: {
		Kind: CommandReleasePod, Name: "ReleasePod", Verb: "release pod", Many: "release %d pods",
		Target: TargetPod, Priority: PriorityUnblock, Sort: SortChange, Call: "patch-pod",
		Slot: SlotClaim,
		zero: func() Command { return &ReleasePod{} },
	},
	CommandReadJob: {
		Kind: CommandReadJob, Name: "ReadJob", Verb: "read the Job", Many: "read the Job %d times",
		Target: TargetJob, Priority: PriorityUnblock, Reads: true, Sort: SortWrite, Call: "get-job",
		Slot: SlotRead, Backoff: BackoffWrites,
		zero: func() Command { return &ReadJob{} },
	},
	CommandDeleteJob: {
		Kind: CommandDeleteJob, Name: "DeleteJob", Verb: "delete the Job", Many: "delete %d Jobs",
		Target: TargetJob, Priority: PriorityBulk, Sort: SortWrite, Call: "delete-job",
		Slot: SlotDelete, Backoff: BackoffWrites,
		zero: func() Command { return &DeleteJob{} },
	},
	CommandReadPod: {
		Kind: CommandReadPod, Name: "ReadPod", Verb: "look for pod", Many: "look for %d pods",
		Target: TargetNewPod, Priority: PriorityUnblock, Reads: true, Sort: SortCreate, Call: "find-pod",
		Slot: SlotCreate, Backoff: BackoffCreates,
		zero: func() Command { return &ReadPod{} },
	},
	CommandWithdraw: {
		Kind: CommandWithdraw, Name: "Withdraw", Verb: "withdraw command", Many: "withdraw %d commands",
		Target: TargetCommand, Priority: PriorityUnblock,
		zero: func() Command { return &Withdraw{} },
	},
	CommandCreateWorkload: {
		Kind: CommandCreateWorkload, Name: "CreateWorkload", Verb: "create Workload", Many: "create %d Workloads",
		Target: TargetJob, Priority: PriorityUnblock, Retried: true, Sort: SortCreate, Call: "create-workload",
		Slot: SlotGroup, Backoff: BackoffGroup,
		zero: func() Command { return &CreateWorkload{} },
	},
	CommandCreatePodGroup: {
		Kind: CommandCreatePodGroup, Name: "CreatePodGroup", Verb: "create PodGroup", Many: "create %d PodGroups",
		Target: TargetJob, Priority: PriorityUnblock, Retried: true, Sort: SortCreate, Call: "create-pod-group",
		Slot: SlotGroup, Backoff: BackoffGroup,
		zero: func() Command { return &CreatePodGroup{} },
	},
	CommandFindGroup: {
		Kind: CommandFindGroup, Name: "FindGroup", Verb: "look for the Job's Workload and PodGroup", Many: "look for Workload and PodGroup %d times",
		Target: TargetJob, Priority: PriorityUnblock, Retried: true, Reads: true, Sort: SortCreate, Call: "list-workloads",
		Slot: SlotGroup, Backoff: BackoffGroup,
		zero: func() Command { return &FindGroup{} },
	},
	CommandResizeGroup: {
		Kind: CommandResizeGroup, Name: "ResizeGroup", Verb: "set the gang's minCount", Many: "set the minCount of %d gangs",
		Target: TargetJob, Priority: PriorityUnblock, Retried: true, Sort: SortCreate, Call: "patch-workload",
		Slot: SlotGroup, Backoff: BackoffGroup,
		zero: func() Command { return &ResizeGroup{} },
	},
	CommandCreateJob: {
		Kind: CommandCreateJob, Name: "CreateJob", Verb: "create Job", Many: "create %d Jobs",
		Target: TargetRun, Priority: PriorityUnblock, Sort: SortCreate, Call: "create-job",
		Slot: SlotCreate, Backoff: BackoffCron,
		zero: func() Command { return &CreateJob{} },
	},
	CommandDeleteRun: {
		Kind: CommandDeleteRun, Name: "DeleteRun", Verb: "delete Job", Many: "delete %d Jobs of the CronJob",
		Target: TargetRun, Priority: PriorityUnblock, Sort: SortChange, Call: "delete-run",
		Slot: SlotDelete, Backoff: BackoffCron,
		zero: func() Command { return &DeleteRun{} },
	},
	CommandWriteCronStatus: {
		Kind: CommandWriteCronStatus, Name: "WriteCronStatus", Verb: "write the CronJob's status", Many: "write the CronJob's status %d times",
		Target: TargetJob, Priority: PriorityUnblock, Sort: SortWrite, Call: "update-cronjob-status",
		Slot: SlotStatus, Backoff: BackoffCron,
		zero: func() Command { return &WriteCronStatus{} },
	},
	CommandReadCronJob: {
		Kind: CommandReadCronJob, Name: "ReadCronJob", Verb: "read the CronJob", Many: "read the CronJob %d times",
		Target: TargetJob, Priority: PriorityUnblock, Reads: true, Sort: SortWrite, Call: "get-cronjob",
		Slot: SlotRead, Backoff: BackoffCron,
		zero: func() Command { return &ReadCronJob{} },
	},
	CommandReadRun: {
		Kind: CommandReadRun, Name: "ReadRun", Verb: "read Job", Many: "read %d Jobs of the CronJob",
		Target: TargetRun, Priority: PriorityUnblock, Reads: true, Sort: SortWrite, Call: "get-run",
		Slot: SlotRead, Backoff: BackoffCron,
		zero: func() Command { return &ReadRun{} },
	},
}

// AllTraits yields the row of each kind of command, by number.
func AllTraits() iter.Seq[*Traits] {
	return func(yield func(*Traits) bool) {
		for k := range traits {
			if traits[k].zero != nil && !yield(&traits[k]) {
				return
			}
		}
	}
}

// Traits gives the properties of a kind of commands; nil if this program does not know the kind.
func (k CommandKind) Traits() *Traits {
	if k > MaxCommandKind || traits[k].zero == nil {
		return nil
	}
	return &traits[k]
}

// String is the name of the commands' type.
func (k CommandKind) String() string {
	if t := k.Traits(); t != nil {
		return t.Name
	}
	return "CommandKind(" + strconv.Itoa(int(k)) + ")"
}

// changesPod reports whether commands of the kind are about a pod that is there.
func (k CommandKind) changesPod() bool {
	t := k.Traits()
	return t != nil && t.Target == TargetPod
}

// New is a command of the kind that asks for nothing yet.
func (t *Traits) New() Command { return t.zero() }

// Target is the object that a command is about. Commands with the same target are carried out one at a time, in their
// order.
type Target uint8

// The targets.
const (
	TargetPod     Target = 1 // the pod with the UID that PodOf says
	TargetNewPod  Target = 2 // the pod that the create with the ordinal that OrdinalOf says makes, or has made
	TargetJob     Target = 3 // the Job, with the objects that there is one of for each Job; or the CronJob
	TargetCommand Target = 4 // another command, which it ends: it is not sent, and has no end of its own
	TargetRun     Target = 5 // a Job of the CronJob, by its name
)

// Slot is the place of a command at its target: of those with the same slot at most one is on its way to an object.
type Slot uint8

// The slots.
const (
	SlotCreate    Slot = 1 // of a pod that is made, or looked for
	SlotDelete    Slot = 2 // of a pod that is deleted
	SlotFinalizer Slot = 3 // of a pod that loses its finalizer
	SlotClaim     Slot = 4 // of a pod that is adopted or released
	SlotGroup     Slot = 5 // of what there is once for the Job's pods together
	SlotStatus    Slot = 6 // of the Job's status
	SlotRead      Slot = 7 // of a live read

	// MaxSlot is the highest of them: the size of a table by slot.
	MaxSlot = SlotRead
)

// Backoff is a group of commands whose refusals are counted together, for each subject.
type Backoff uint8

// The backoffs.
const (
	BackoffOwn     Backoff = 0 // each command by itself, while it is retried
	BackoffCreates Backoff = 1 // creates of pods: while one is refused, so would the others be (J-057)
	BackoffWrites  Backoff = 2 // writes and reads of the Job
	BackoffGroup   Backoff = 3 // what there is once for the Job's pods together
	BackoffCron    Backoff = 4 // all that is done for a CronJob (C-190)

	// MaxBackoff is the highest of them: the size of a table by backoff.
	MaxBackoff = BackoffCron
)

// Sort is a group of commands that succeed and fail together.
type Sort uint8

// The sorts.
const (
	SortCreate Sort = 1 // what makes pods, and what has to be there before them
	SortChange Sort = 2 // other changes of pods
	SortWrite  Sort = 3 // writes and reads of the Job

	// MaxSort is the highest of them: the size of a table by sort.
	MaxSort = SortWrite
)

// Priority says how urgent a command is, by what waits for it. Between Jobs, commands of PriorityUnblock and
// PriorityBulk take turns; of one Job, PriorityUnblock goes first.
type Priority uint8

// The priorities, most urgent first.
const (
	PriorityDeletion Priority = 1 // finalizers of what is being deleted: whoever deleted it waits, and would wait for ever without us
	PriorityFinish   Priority = 2 // writes that conclude a Job: users wait for them
	PriorityEnd      Priority = 3 // what stands between a Job that ends and that write
	PriorityDue      Priority = 4 // the first pods of a Job, and pods whose backoff is over: their time has come
	PriorityLeft     Priority = 5 // finalizers that are left after the write that concludes a Job
	PriorityUnblock  Priority = 6 // what the Job's next steps wait for
	PriorityBulk     Priority = 7 // the bulk of the work: pods to be made, and finalizers of those that are accounted for
	PriorityProgress Priority = 8 // status writes that only show how far the Job is
)

// PriorityOf is the priority of a command of a Job that goes on. See Task.Priority.
func PriorityOf(c Command) Priority {
	if own, ok := c.(interface{ priority() Priority }); ok {
		return own.priority()
	}
	return c.Traits().Priority
}

// aboutPod is a command with TargetPod. The version is one that the pod must still have; 0 for any.
type aboutPod interface {
	pod() (uid types.UID, version uint64)
}

// PodOf is the pod that a command with TargetPod is about; empty for all others.
func PodOf(c Command) types.UID {
	if about, ok := c.(aboutPod); ok {
		uid, _ := about.pod()
		return uid
	}
	return ""
}

// VersionOf is the resourceVersion that the pod of a command with TargetPod must still have; 0 for any, and for all
// others.
func VersionOf(c Command) uint64 {
	if about, ok := c.(aboutPod); ok {
		_, version := about.pod()
		return version
	}
	return 0
}

// OrdinalOf is the ordinal and the completion index of the create that a command with TargetNewPod is about; 0 and
// NoIndex for all others.
func OrdinalOf(c Command) (ordinal uint64, index int32) {
	if about, ok := c.(interface{ ordinal() (uint64, int32) }); ok {
		return about.ordinal()
	}
	return 0, NoIndex
}
