package events

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// Command is a change or a read of the cluster that a decision asks for. To carry it out twice has the same effect as
// once. The set of implementations is closed: the types of this file and of cronjob_command.go. Each type has one row
// in the table traits (traits.go).
type Command interface {
	// Traits returns the properties that all commands of this kind share, such as how they are retried.
	Traits() *Traits

	// toWire returns the stored form without the messages of conditions. It appends these messages to free, in order:
	// they are stored apart, as evidence, which no decision reads.
	toWire(free *[]string) *pb.Command
	phrase(pod func(types.UID) string) string
}

// CreatePod asks for the creation of a pod. The pod's name follows from the log's ID and epoch (life of the log), the
// Job's UID and Ordinal; see PodName.
type CreatePod struct {
	Ordinal  uint64 // the Job's own count of creates, from 1
	Index    int32  // completion index, or NoIndex
	Template string // hash of the pod template to use

	IndexFailures, IndexIgnoredFailures uint32

	Again   bool // the create was sent before, and its outcome is unknown
	InGroup bool // the pod names the Job's PodGroup
}

// DeletePod asks for the deletion of a pod, with its UID as precondition.
type DeletePod struct{ Pod types.UID }

// DropFinalizer asks for the removal of the tracking finalizer from a pod.
type DropFinalizer struct {
	Pod        types.UID
	ThenDelete bool // the pod is surplus: to be deleted after this, and never counted (J-073)
	// Version is the resourceVersion that the pod must still have; 0 for any. It guards a pod without an owner, which
	// another Job may adopt meanwhile.
	Version uint64
}

// WriteStatus asks for a write of the Job's status. Change is relative to the last status that is known to be stored;
// Base is its resourceVersion.
type WriteStatus struct {
	Base   uint64
	Change StatusChange
}

// AdoptPod asks that a pod without an owner get the Job as its owner (J-175).
type AdoptPod struct {
	Pod     types.UID
	Version uint64 // the resourceVersion that the pod must still have
	// Spent: the Job has already counted this pod. The pod then gets no tracking finalizer, so it is not counted twice.
	Spent bool
	Mark  bool // the pod's annotation does not name the Job yet, and the adoption writes it
}

// ReleasePod asks for the removal of the Job's owner reference from a pod (J-174).
type ReleasePod struct {
	Pod     types.UID
	Version uint64 // the resourceVersion that the pod must still have
}

// ReadJob asks for a read of the Job from the API server, not from a cache. The answer arrives as an observation.
type ReadJob struct{}

// DeleteJob asks for a foreground deletion of the Job: its pods go first.
type DeleteJob struct {
	Job types.UID
	// The resourceVersion that the Job must still have: a Job whose TTL was raised meanwhile is not deleted (T-051)
	Version uint64
	Expired Time // when its TTL expired
}

// ReadPod asks for a read, by name, of the pod that a create makes; Ordinal is the create's number within the Job. It
// asks the API server, not a cache. The answer arrives as an observation.
type ReadPod struct {
	Ordinal uint64
	Index   int32
}

// Withdraw cancels a command that has not ended.
type Withdraw struct{ Command CommandID }

// CreateWorkload asks for the Workload that describes how the Job's pods are scheduled. With MinCount > 0 they form a
// gang: no pod is scheduled until MinCount of them fit at the same time. With MinCount 0 they are scheduled one by one.
type CreateWorkload struct{ MinCount int32 }

// CreatePodGroup asks for the PodGroup of the Job, made from its Workload's template.
type CreatePodGroup struct{}

// ResizeGroup asks for another MinCount of the Job's Workload and PodGroup. If the Workload belongs to the Job's owner,
// only the PodGroup changes, to the MinCount of the Workload's template.
type ResizeGroup struct{ MinCount int32 }

// FindGroup asks which Workload and PodGroup the Job has. The answer arrives as an observation.
type FindGroup struct{}

func (*CreatePod) Traits() *Traits      { return &traits[CommandCreatePod] }
func (*DeletePod) Traits() *Traits      { return &traits[CommandDeletePod] }
func (*DropFinalizer) Traits() *Traits  { return &traits[CommandDropFinalizer] }
func (*WriteStatus) Traits() *Traits    { return &traits[CommandWriteStatus] }
func (*AdoptPod) Traits() *Traits       { return &traits[CommandAdoptPod] }
func (*ReleasePod) Traits() *Traits     { return &traits[CommandReleasePod] }
func (*ReadJob) Traits() *Traits        { return &traits[CommandReadJob] }
func (*DeleteJob) Traits() *Traits      { return &traits[CommandDeleteJob] }
func (*ReadPod) Traits() *Traits        { return &traits[CommandReadPod] }
func (*Withdraw) Traits() *Traits       { return &traits[CommandWithdraw] }
func (*CreateWorkload) Traits() *Traits { return &traits[CommandCreateWorkload] }
func (*CreatePodGroup) Traits() *Traits { return &traits[CommandCreatePodGroup] }
func (*FindGroup) Traits() *Traits      { return &traits[CommandFindGroup] }
func (*ResizeGroup) Traits() *Traits    { return &traits[CommandResizeGroup] }

func (c *CreatePod) phrase(func(types.UID) string) string {
	text := fmt.Sprintf("%s #%d", c.Traits().Verb, c.Ordinal)
	if c.Index != NoIndex {
		text += fmt.Sprintf(" for index %d", c.Index)
	}
	if c.InGroup {
		text += " in the group"
	}
	if c.Again {
		text += ", again"
	}
	return text
}

func (c *DeletePod) phrase(pod func(types.UID) string) string {
	return c.Traits().Verb + " " + pod(c.Pod)
}

func (c *DropFinalizer) phrase(pod func(types.UID) string) string {
	if c.ThenDelete {
		return "remove finalizer of surplus pod " + pod(c.Pod)
	}
	return "remove finalizer of pod " + pod(c.Pod)
}

func (c *WriteStatus) phrase(func(types.UID) string) string {
	return c.Traits().Verb + ": " + describeChange(&c.Change)
}

func (c *AdoptPod) phrase(pod func(types.UID) string) string {
	if c.Spent {
		return "adopt counted pod " + pod(c.Pod)
	}
	return c.Traits().Verb + " " + pod(c.Pod)
}

func (c *ReleasePod) phrase(pod func(types.UID) string) string {
	return c.Traits().Verb + " " + pod(c.Pod)
}

func (c *ReadJob) phrase(func(types.UID) string) string { return c.Traits().Verb }

func (c *DeleteJob) phrase(func(types.UID) string) string { return c.Traits().Verb }

func (c *ReadPod) phrase(func(types.UID) string) string {
	return fmt.Sprintf("%s #%d", c.Traits().Verb, c.Ordinal)
}

func (c *Withdraw) phrase(func(types.UID) string) string {
	return fmt.Sprintf("%s %d/%d", c.Traits().Verb, c.Command.Decided, c.Command.Place)
}

func (c *CreateWorkload) phrase(func(types.UID) string) string {
	if c.MinCount == 0 {
		return c.Traits().Verb
	}
	return fmt.Sprintf("%s for a gang of %d", c.Traits().Verb, c.MinCount)
}

func (c *CreatePodGroup) phrase(func(types.UID) string) string { return c.Traits().Verb }

func (c *ResizeGroup) phrase(func(types.UID) string) string {
	return fmt.Sprintf("%s: %d", c.Traits().Verb, c.MinCount)
}

func (c *FindGroup) phrase(func(types.UID) string) string { return c.Traits().Verb }

func (c *DeletePod) pod() (types.UID, uint64)     { return c.Pod, 0 }
func (c *DropFinalizer) pod() (types.UID, uint64) { return c.Pod, c.Version }
func (c *AdoptPod) pod() (types.UID, uint64)      { return c.Pod, c.Version }
func (c *ReleasePod) pod() (types.UID, uint64)    { return c.Pod, c.Version }

func (c *CreatePod) ordinal() (uint64, int32) { return c.Ordinal, c.Index }
func (c *ReadPod) ordinal() (uint64, int32)   { return c.Ordinal, c.Index }

func (c *DropFinalizer) priority() Priority {
	if c.ThenDelete {
		return PriorityUnblock // the surplus pod can be deleted only after this command has removed its finalizer
	}
	return c.Traits().Priority
}

func (c *WriteStatus) priority() Priority {
	ch := &c.Change
	if ch.Ends() {
		return PriorityFinish
	}
	if len(ch.Conditions) > 0 || len(ch.AddSucceeded)+len(ch.AddFailed) > 0 || ch.CompleteIndexes != "" || ch.FailIndexes != "" {
		// More urgent than mere progress: until this status is stored, the pods that it lists keep their finalizers
		return c.Traits().Priority
	}
	return PriorityProgress
}

// Ends reports whether the change makes the Job Complete or Failed.
func (c *StatusChange) Ends() bool {
	return slices.ContainsFunc(c.Conditions, func(c JobCondition) bool {
		return c.Status == "True" && (c.Type == "Complete" || c.Type == "Failed")
	})
}

func (c *CreatePod) weight() int { return 14 + len(c.Template) }

func (c *WriteStatus) weight() int {
	ch := &c.Change
	uids := len(ch.AddSucceeded) + len(ch.AddFailed) + len(ch.Counted)
	return 34 + len(ch.CompleteIndexes) + len(ch.FailIndexes) + conditionsWeight(ch.Conditions) + uidWeight*uids
}
