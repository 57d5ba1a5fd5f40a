package events

import "k8s.io/apimachinery/pkg/types"

// BuiltinManager is the field manager of the built-in controllers in metadata.managedFields (O-046).
const BuiltinManager = "kube-controller-manager"

// RivalFound records a split brain: the built-in controller works on Jobs that this controller runs. Nothing is decided
// after it in this run, because two controllers on one Job create too many pods and count them twice (O-005).
type RivalFound struct{ Acts []RivalAct }

// RivalAct is one write of the other controller (RivalFound) that concerns one of our Jobs.
type RivalAct struct {
	Job types.UID
	Pod types.UID // the pod that it created; empty when it wrote the Job's status
	At  Time      // by the API server's clock
}

// RivalGone records that a later run watched for a minute without an act of the other controller (RivalFound).
// Decisions resume.
type RivalGone struct{}

func (*RivalFound) facts() factType { return factRivalFound }
func (*RivalGone) facts() factType  { return factRivalGone }
