package kubewire

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Pod is a pod of the API server: the fields that Jobledger reads, with the names of the API.
type Pod struct {
	metav1.ObjectMeta // without managed fields
	Spec              PodSpec
	Status            PodStatus
}

// PodSpec has the fields of a pod's spec that Jobledger reads.
type PodSpec struct {
	NodeName string
	Sidecars []string // names of the sidecars: init containers that keep running beside the regular containers
	Gates    []string // names of the pod's scheduling gates
	Whole    []byte   // the spec as the server sent it; empty once the pod has a node
}

// PodStatus has the fields of a pod's status that Jobledger reads.
type PodStatus struct {
	Phase                                    corev1.PodPhase
	Reason, Message                          string
	Conditions                               []corev1.PodCondition // without LastProbeTime and ObservedGeneration
	InitContainerStatuses, ContainerStatuses []ContainerStatus
}

// ContainerStatus has the fields of a container's status that Jobledger reads.
type ContainerStatus struct {
	Name                        string
	State, LastTerminationState corev1.ContainerState // without ContainerID and Signal
	RestartCount                int32
	Started                     bool // the container has passed its startup probe, or has none
}

// GetObjectKind implements runtime.Object. The kind is empty.
func (*Pod) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject implements runtime.Object. The copy shares memory with the pod, so neither may be changed.
func (p *Pod) DeepCopyObject() runtime.Object {
	c := *p
	return &c
}

// read decodes a pod from protobuf. Of its annotations it keeps only those in want.
func (p *Pod) read(b []byte, want annotations) (err error) {
	for f := (fields{rest: b}); f.next(&err); {
		switch f.number {
		case 1:
			err = want.read(&p.ObjectMeta, f.bytes)
		case 2:
			p.Spec.read(f.bytes, &err)
		case 3:
			p.Status.read(f.bytes, &err)
		}
	}
	return err
}

func (s *PodSpec) read(b []byte, err *error) {
	for f := (fields{rest: b}); f.next(err); {
		switch f.number {
		case 10:
			s.NodeName = f.text()
		case 20:
			if name, is := sidecar(f.bytes, err); is {
				s.Sidecars = append(s.Sidecars, name)
			}
		case 38:
			s.Gates = append(s.Gates, gate(f.bytes, err))
		}
	}
	if s.NodeName == "" {
		s.Whole = append([]byte{}, b...)
	}
}

// sidecar returns the name of an init container, and whether it is a sidecar: one that keeps running beside the regular
// containers.
func sidecar(b []byte, err *error) (name string, is bool) {
	for f := (fields{rest: b}); f.next(err); {
		switch f.number {
		case 1:
			name = f.text()
		case 24:
			is = string(f.bytes) == string(corev1.ContainerRestartPolicyAlways)
		}
	}
	return name, is
}

// gate returns the name of a scheduling gate, which keeps the pod from being scheduled.
func gate(b []byte, err *error) (name string) {
	for f := (fields{rest: b}); f.next(err); {
		if f.number == 1 {
			name = f.text()
		}
	}
	return name
}

func (s *PodStatus) read(b []byte, err *error) {
	for f := (fields{rest: b}); f.next(err); {
		switch f.number {
		case 1:
			s.Phase = corev1.PodPhase(f.known())
		case 2:
			if s.Conditions == nil {
				s.Conditions = make([]corev1.PodCondition, 0, 5) // enough for the five conditions that a kubelet sets
			}
			s.Conditions = append(s.Conditions, podCondition(f.bytes, err))
		case 3:
			s.Message = f.text()
		case 4:
			s.Reason = f.known()
		case 8:
			s.ContainerStatuses = append(s.ContainerStatuses, containerStatus(f.bytes, err))
		case 10:
			s.InitContainerStatuses = append(s.InitContainerStatuses, containerStatus(f.bytes, err))
		}
	}
}

func podCondition(b []byte, err *error) (c corev1.PodCondition) {
	for f := (fields{rest: b}); f.next(err); {
		switch f.number {
		case 1:
			c.Type = corev1.PodConditionType(f.known())
		case 2:
			c.Status = corev1.ConditionStatus(f.known())
		case 4:
			c.LastTransitionTime = f.time(err)
		case 5:
			c.Reason = f.known()
		case 6:
			c.Message = f.text()
		}
	}
	return c
}

func containerStatus(b []byte, err *error) (c ContainerStatus) {
	for f := (fields{rest: b}); f.next(err); {
		switch f.number {
		case 1:
			c.Name = f.known()
		case 2:
			c.State = containerState(f.bytes, err)
		case 3:
			c.LastTerminationState = containerState(f.bytes, err)
		case 5:
			c.RestartCount = int32(f.value)
		case 9:
			c.Started = f.value != 0
		}
	}
	return c
}

func containerState(b []byte, err *error) (s corev1.ContainerState) {
	for f := (fields{rest: b}); f.next(err); {
		switch f.number {
		case 1:
			s.Waiting = &corev1.ContainerStateWaiting{}
			for in := (fields{rest: f.bytes}); in.next(err); {
				switch in.number {
				case 1:
					s.Waiting.Reason = in.known()
				case 2:
					s.Waiting.Message = in.text()
				}
			}
		case 2:
			s.Running = &corev1.ContainerStateRunning{}
			for in := (fields{rest: f.bytes}); in.next(err); {
				if in.number == 1 {
					s.Running.StartedAt = in.time(err)
				}
			}
		case 3:
			s.Terminated = terminated(f.bytes, err)
		}
	}
	return s
}

func terminated(b []byte, err *error) *corev1.ContainerStateTerminated {
	t := &corev1.ContainerStateTerminated{}
	for f := (fields{rest: b}); f.next(err); {
		switch f.number {
		case 1:
			t.ExitCode = int32(f.value)
		case 3:
			t.Reason = f.known()
		case 4:
			t.Message = f.text()
		case 5:
			t.StartedAt = f.time(err)
		case 6:
			t.FinishedAt = f.time(err)
		}
	}
	return t
}
