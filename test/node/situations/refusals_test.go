//go:build linux

package situations

import (
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const toldTheAsker = "the API server tells a refusal to the controller that asked, and no Job or pod shows it"

// refusals are pods that the API server refuses, or that get no node: no kubelet sees them.
var refusals = []row{
	{name: "class", nopod: true, did: "the PriorityClass does not exist", says: []string{`PriorityClass.*team`}, may: "refused", unseen: toldTheAsker, unseenly: `no pod`,
		named: func(name string) option { return pod(func(p *corev1.PodSpec) { p.PriorityClassName = name }) }, stage: waits},
	{name: "runtime", nopod: true, did: "the RuntimeClass does not exist", says: []string{`RuntimeClass.*team`}, may: "refused", unseen: toldTheAsker, unseenly: `no pod`,
		named: func(name string) option { return pod(func(p *corev1.PodSpec) { p.RuntimeClassName = &name }) }, stage: waits},
	{name: "gate", did: "the pod has the scheduling gate corp.example/budget", says: []string{`gate`}, may: "gate schedule", stage: waits,
		job: []option{pod(func(p *corev1.PodSpec) { p.SchedulingGates = []corev1.PodSchedulingGate{{Name: "corp.example/budget"}} })}},
	{name: "cpu", did: "no node has a million processors", says: []string{`Insufficient cpu`}, may: "schedule taint", stage: waits, job: []option{requests(corev1.ResourceCPU, "1M")}},
	{name: "selector", did: "no node has the label that the pod wants", says: []string{`nodes are available`}, may: "schedule taint", stage: waits,
		job: []option{pod(func(p *corev1.PodSpec) { p.NodeSelector = map[string]string{"disk": "ssd"} })}},
}

func waits(s *situation) { s.pass(12 * second) }

func gone(err error) bool { return apierrors.IsNotFound(err) }
