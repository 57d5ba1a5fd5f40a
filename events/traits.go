package events

import (
	"iter"
	"strconv"

	"k8s.io/apimachinery/pkg/types"
)

// CommandKind is the type of a command. The numbers are those of the oneof in decision.proto and never change.
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

	// MaxCommandKind is the highest kind: it gives the size of a table by kind.
	MaxCommandKind = CommandResizeGroup
)

// Traits holds the properties that all commands of one kind share. A property of a single command, such as its pod or
// the urgency of a status write, is a method of its type in command.go.
type Traits struct {
	Kind CommandKind
	Name string // name of the Go type and of the message in the schema; a label in metrics
	Verb string // what one such command does, for people, such as "create pod"
	Many string // what several such commands do, for people; a format for their number, such as "create %d pods"
	// Target is the object that the command is about.
	Target Target
	// Priority is the priority of all commands of the kind, unless their type has a method priority.
	Priority Priority
	// Retried: a command that is refused for a temporary reason is retried unchanged, without a new decision. Other
	// commands end, and a new decision follows.
	Retried bool
	// Slot is the kind of work that the command does on its target: only one command of a slot may be in flight; 0 for
	// none.
	Slot Slot
	// Backoff is the group of commands that wait together after a refusal.
	Backoff Backoff
	// Reads: the command changes nothing in the cluster. Its result arrives as an observation.
	Reads bool
	// Sort groups commands in messages to people: the newest failure of each sort is shown.
	Sort Sort
	// Call is the name of the request in fault injection (failpoints); empty when the command sends none.
	Call string

	zero func() Command
}

// traits has the properties of each kind of command, by its number.
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

// AllTraits yields the properties of each kind of command, in order of their numbers.
func AllTraits() iter.Seq[*Traits] {
	return func(yield func(*Traits) bool) {
		for k := range traits {
			if traits[k].zero != nil && !yield(&traits[k]) {
				return
			}
		}
	}
}

// Traits returns the properties of the kind; nil if this program does not know it.
func (k CommandKind) Traits() *Traits {
	if k > MaxCommandKind || traits[k].zero == nil {
		return nil
	}
	return &traits[k]
}

// String returns the name of the commands' type.
func (k CommandKind) String() string {
	if t := k.Traits(); t != nil {
		return t.Name
	}
	return "CommandKind(" + strconv.Itoa(int(k)) + ")"
}

// changesPod reports whether commands of the kind are about an existing pod.
func (k CommandKind) changesPod() bool {
	t := k.Traits()
	return t != nil && t.Target == TargetPod
}

// New returns an empty command of the kind, to decode into.
func (t *Traits) New() Command { return t.zero() }

// Target is the object that a command is about. Commands with the same target are carried out one at a time, in order.
type Target uint8

// The targets of commands.
const (
	TargetPod     Target = 1 // the pod with the UID that PodOf returns
	TargetNewPod  Target = 2 // the pod of the create with the ordinal that OrdinalOf returns, made or not
	TargetJob     Target = 3 // the Job, its status and its group; or the CronJob
	TargetCommand Target = 4 // another command, which this one cancels; this one is not sent and has no end of its own
	TargetRun     Target = 5 // a Job of the CronJob, by name
)

// Slot is a kind of work on an object. For each object at most one command of a slot is in flight: for example, one
// deletion of a pod.
type Slot uint8

// The kinds of work.
const (
	SlotCreate    Slot = 1 // a pod that is created or looked for
	SlotDelete    Slot = 2 // a pod that is deleted
	SlotFinalizer Slot = 3 // a pod that loses its finalizer
	SlotClaim     Slot = 4 // a pod that is adopted or released
	SlotGroup     Slot = 5 // the Workload and the PodGroup of the Job
	SlotStatus    Slot = 6 // the Job's status
	SlotRead      Slot = 7 // a live read

	// MaxSlot is the highest slot: it gives the size of a table by slot.
	MaxSlot = SlotRead
)

// Backoff is a group of commands of one Job or CronJob that count their refusals together, and then wait together.
type Backoff uint8

// The groups of commands.
const (
	BackoffOwn     Backoff = 0 // each command waits alone, while it is retried
	BackoffCreates Backoff = 1 // creates of pods: when one is refused, the others would be too (J-057)
	BackoffWrites  Backoff = 2 // writes and reads of the Job
	BackoffGroup   Backoff = 3 // the Workload and the PodGroup of the Job
	BackoffCron    Backoff = 4 // all commands of a CronJob (C-190)

	// MaxBackoff is the highest group: it gives the size of a table by group.
	MaxBackoff = BackoffCron
)

// Sort is a group of commands that tend to succeed and fail together. Of each sort the newest failure is shown to
// people, until a command of that sort succeeds.
type Sort uint8

// The sorts of commands.
const (
	SortCreate Sort = 1 // creates of pods, and of objects that they need
	SortChange Sort = 2 // other changes of pods
	SortWrite  Sort = 3 // writes and reads of the Job

	// MaxSort is the highest sort: it gives the size of a table by sort.
	MaxSort = SortWrite
)

// Priority is the urgency of a command. Commands of PriorityUnblock and PriorityBulk take turns between Jobs; within
// one Job, PriorityUnblock goes first.
type Priority uint8

// The priorities, from the most urgent one.
const (
	// Finalizers of objects that are being deleted: a user waits, and nothing else would remove them
	PriorityDeletion Priority = 1
	PriorityFinish   Priority = 2 // status writes that finish a Job: users wait for them
	PriorityEnd      Priority = 3 // commands that must end before the Job's last status write
	PriorityDue      Priority = 4 // the first pods of a Job, and pods whose backoff is over
	PriorityLeft     Priority = 5 // finalizers that remain after the Job's last status write
	PriorityUnblock  Priority = 6 // commands that must end before the Job can go on
	PriorityBulk     Priority = 7 // all other creates, and finalizers of counted pods
	PriorityProgress Priority = 8 // status writes that only show progress
)

// PriorityOf returns the priority of a command if its Job goes on. The command's Task may have a higher one.
func PriorityOf(c Command) Priority {
	if own, ok := c.(interface{ priority() Priority }); ok {
		return own.priority()
	}
	return c.Traits().Priority
}

// aboutPod is implemented by commands with TargetPod. version is the resourceVersion that the pod must still have; 0
// for any.
type aboutPod interface {
	pod() (uid types.UID, version uint64)
}

// PodOf returns the pod that a command with TargetPod is about; empty for all others.
func PodOf(c Command) types.UID {
	if about, ok := c.(aboutPod); ok {
		uid, _ := about.pod()
		return uid
	}
	return ""
}

// VersionOf returns the resourceVersion that the pod of a command with TargetPod must still have; 0 for any version,
// and for all other commands.
func VersionOf(c Command) uint64 {
	if about, ok := c.(aboutPod); ok {
		_, version := about.pod()
		return version
	}
	return 0
}

// OrdinalOf returns, for a command with TargetNewPod, the ordinal of the create (its number within the Job) and the
// completion index; 0 and NoIndex for all others.
func OrdinalOf(c Command) (ordinal uint64, index int32) {
	if about, ok := c.(interface{ ordinal() (uint64, int32) }); ok {
		return about.ordinal()
	}
	return 0, NoIndex
}
