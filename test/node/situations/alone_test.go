//go:build linux

package situations

import (
	"context"
	"fmt"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/test/node"
)

// alone are actions on the node.
var alone = []row{
	{name: "taint", alone: true, did: "tom tainted the node (NoExecute)", says: []string{`taint`}, may: "taint", exits: []int32{143}, stage: func(s *situation) {
		s.awaitRunning()
		s.pass(2 * second)
		s.patchNode(`{"spec":{"taints":[{"key":"maintenance","value":"kernel","effect":"NoExecute"}]}}`)
		s.awaitEnd()
		s.patchNode(`{"spec":{"taints":null}}`)
	}},
	{name: "away", alone: true, did: "the kubelet was killed; the node lifecycle controller tainted the node; the kubelet came back", says: []string{`taint|not.?ready|unreachable`},
		may: "taint notready", exits: []int32{143}, job: []option{bears("node.kubernetes.io/unreachable", 3), bears("node.kubernetes.io/not-ready", 3)}, stage: func(s *situation) {
			s.awaitRunning()
			s.stopKubelet()
			s.awaitPod("it is deleted", func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil })
			s.pass(3 * second)
			s.startKubelet()
			s.awaitEnd()
			s.untainted()
		}},
	{name: "back", alone: true, did: "the kubelet was killed, and started again after some seconds; the pod ran on", says: []string{`succeeded`}, pod: []string{`succe`}, job: []option{runs("sleep 20")},
		stage: func(s *situation) {
			s.awaitRunning()
			s.stopKubelet()
			s.pass(6 * second)
			s.startKubelet()
			s.awaitEnd()
			s.untainted()
		}},
	{name: "endedaway", alone: true, did: "the kubelet was killed; meanwhile the program exited 4", says: []string{`exit(ed)? 4\b`}, exits: []int32{4}, job: []option{runs("sleep 4; exit 4")},
		stage: func(s *situation) {
			s.awaitRunning()
			s.stopKubelet()
			s.pass(6 * second)
			s.startKubelet()
			s.awaitEnd()
			s.untainted()
		}},
	{name: "unknown", cause: "unknown", alone: true, stage: func(s *situation) {
		p := s.awaitRunning()
		s.stopKubelet()
		s.must(s.node.LoseContainer(s.ctx, p.Status.ContainerStatuses[0].ContainerID))
		s.startKubelet()
		s.awaitEnd()
		s.untainted()
	}},
	{name: "nodegone", alone: true, did: "the kubelet was killed and the node's object deleted; PodGC deleted the pod", says: []string{`node (is |was )?(gone|lost)|no longer exists`},
		may: "nodegone nodeaway taint notready", stage: func(s *situation) {
			s.awaitRunning()
			s.stopKubelet()
			s.must(s.as(janitor).CoreV1().Nodes().Delete(s.ctx, node.Name, metav1.DeleteOptions{}))
			s.awaitEnd()
			s.startKubelet()
			s.untainted()
		}},
	{name: "rejected", alone: true, did: "the kubelet was started again on a node that was low on memory, and rejected the pod that it had run", may: "rejected eviction pressure",
		says: []string{`MemoryPressure`}, exits: []int32{143}, stage: func(s *situation) {
			s.awaitRunning()
			s.stopKubelet()
			s.startKubelet("--eviction-hard=memory.available<" + s.memory(64<<20))
			s.awaitEnd()
			s.healthy()
		}},
	{name: "pressure", cause: "pressure", alone: true, job: []option{runs("tail -c 2000m /dev/zero")},
		prepare: func(s *situation) {
			s.stopKubelet()
			s.startKubelet("--eviction-hard=memory.available<" + s.memory(inUse(s)+1<<30))
		}, stage: func(s *situation) {
			s.awaitEnd()
			s.healthy()
		}},
}

// healthy makes the kubelet run as before.
func (s *situation) healthy() {
	s.stopKubelet()
	s.startKubelet()
	s.untainted()
}

// memory returns the node's memory minus but, as a quantity.
func (s *situation) memory(but int64) string {
	s.t.Helper()
	n, err := s.admin.CoreV1().Nodes().Get(s.ctx, node.Name, metav1.GetOptions{})
	s.must(err)
	return resource.NewQuantity(n.Status.Capacity.Memory().Value()-but, resource.BinarySI).String()
}

// inUse returns the used memory as a kubelet computes it: without file pages that were not read lately.
func inUse(s *situation) int64 {
	s.t.Helper()
	var used, idle int64
	read := func(file, format string, into *int64) {
		text, err := os.ReadFile(file)
		s.must(err)
		for line := range strings.Lines(string(text)) {
			if _, err := fmt.Sscanf(line, format, into); err == nil {
				return
			}
		}
	}
	if _, err := os.Stat("/sys/fs/cgroup/memory"); err == nil {
		read("/sys/fs/cgroup/memory/memory.usage_in_bytes", "%d", &used)
		read("/sys/fs/cgroup/memory/memory.stat", "total_inactive_file %d", &idle)
		return used - idle
	}
	var total, free int64
	read("/proc/meminfo", "MemTotal: %d kB", &total)
	read("/proc/meminfo", "MemFree: %d kB", &free)
	read("/sys/fs/cgroup/memory.stat", "inactive_file %d", &idle)
	return (total-free)<<10 - idle
}

// stopKubelet kills the kubelet. It is restarted at the end, also after a failure.
func (s *situation) stopKubelet() {
	s.t.Helper()
	s.must(s.node.StopKubelet())
	s.t.Cleanup(func() {
		if !s.t.Failed() {
			return
		}
		_ = s.node.StopKubelet() // it may run
		if err := s.node.StartKubelet(context.Background()); err != nil {
			s.t.Error(err)
		}
	})
}

func (s *situation) startKubelet(args ...string) {
	s.t.Helper()
	s.must(s.node.StartKubelet(s.ctx, args...))
}

func (s *situation) patchNode(patch string) {
	s.t.Helper()
	_, err := s.as(tom).CoreV1().Nodes().Patch(s.ctx, node.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "kubectl-edit"})
	s.must(err)
}

// untainted waits until the node accepts pods again.
func (s *situation) untainted() {
	s.t.Helper()
	s.eventually("the node has no taints", func() bool {
		n, err := s.admin.CoreV1().Nodes().Get(s.ctx, node.Name, metav1.GetOptions{})
		return err == nil && len(n.Spec.Taints) == 0
	})
}
