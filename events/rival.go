package events

import "k8s.io/apimachinery/pkg/types"

// BuiltinManager is the field manager under which the built-in controllers write, as the API server records it in
// metadata.managedFields (O-046).
const BuiltinManager = "kube-controller-manager"

// RivalFound says that the built-in controller works on Jobs that this controller runs. Nothing is decided after it in
// this run: two controllers on one Job make too many pods and count them twice (O-005).
type RivalFound struct{ Acts []RivalAct }

// RivalAct is one thing that the other controller did to a Job.
type RivalAct struct {
	Job types.UID
	Pod types.UID // the pod that it made; empty when it wrote the Job's status
	At  Time      // by the API server's clock
}

// RivalGone says that a later run has watched for a minute, and no one else worked on the Jobs: decisions go on.
type RivalGone struct{}

func (*RivalFound) facts() factType { return factRivalFound }
func (*RivalGone) facts() factType  { return factRivalGone }
