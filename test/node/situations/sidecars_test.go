//go:build linux

package situations

import (
	corev1 "k8s.io/api/core/v1"
)

// sidecars are init containers, and containers beside main.
var sidecars = []row{
	{name: "init", did: "the init container migrate exited 7", says: []string{`exit(ed)? 7`, `migrate`}, exits: []int32{7}, stage: ends,
		job: []option{begins(shell("migrate", "sleep 1; exit 7"))}},
	{name: "initloop", did: "the init container migrate exits 7 again and again", says: []string{`exit(ed)? 7`, `migrate`}, pod: []string{`restart|CrashLoop`}, may: "crashloop", exits: []int32{7},
		job: []option{limit(5), onFailure(), begins(shell("migrate", "sleep 1; exit 7"))}, stage: stuck("CrashLoopBackOff")},
	{name: "initslow", did: "the init container migrate has not ended", says: []string{`PodInitializing`, `held up by init container migrate`}, stage: func(s *situation) {
		s.awaitPod("it begins", func(p *corev1.Pod) bool {
			return len(p.Status.InitContainerStatuses) > 0 && p.Status.InitContainerStatuses[0].State.Running != nil
		})
		s.pass(12 * second)
	}, job: []option{begins(shell("migrate", polite))}},
	{name: "helper", did: "main ended (exit 0), and the container proxy beside it runs on", says: []string{`proxy`}, job: []option{runs("sleep 1"), beside(shell("proxy", polite))},
		stage: func(s *situation) {
			s.awaitPod("main has ended", func(p *corev1.Pod) bool { return c0(p) != nil && c0(p).State.Terminated != nil })
			s.pass(12 * second)
		}},
	{name: "helperfails", did: "main exited 3, and the container proxy beside it runs on", says: []string{`exit(ed)? 3|main.*3`, `proxy`}, exits: []int32{3},
		job: []option{runs("sleep 1; exit 3"), beside(shell("proxy", polite))},
		stage: func(s *situation) {
			s.awaitPod("main has ended", func(p *corev1.Pod) bool { return c0(p) != nil && c0(p).State.Terminated != nil })
			s.pass(12 * second)
		}},
	{name: "sidecar", did: "main ended (exit 0); the native sidecar proxy ignored SIGTERM until its grace ended", says: []string{`succeeded`}, pod: []string{`succe`}, exits: []int32{137}, stage: ends,
		job: []option{grace(4), runs("sleep 2"), begins(always(shell("proxy", impolite)))}},
	{name: "sidecarends", did: "main exited 3; the native sidecar proxy was ended behind it", says: []string{`exit(ed)? 3\b`}, exits: []int32{3, 143}, stage: ends,
		job: []option{runs("sleep 2; exit 3"), begins(always(shell("proxy", polite)))}},
	{name: "sidecarloop", did: "the native sidecar proxy exits 9 again and again; main succeeded", says: []string{`succeeded`}, pod: []string{`succe`}, exits: []int32{9}, may: "crashloop", stage: ends,
		job: []option{runs("sleep 12"), begins(always(shell("proxy", "exit 9")))}},
	{name: "sidecarholds", did: "the native sidecar proxy never passes its startup probe, so main does not start", says: []string{`PodInitializing`, `held up by init container proxy`}, exits: []int32{143}, may: "crashloop",
		stage: func(s *situation) {
			s.awaitPod("the sidecar runs", func(p *corev1.Pod) bool {
				return len(p.Status.InitContainerStatuses) > 0 && p.Status.InitContainerStatuses[0].State.Running != nil
			})
			s.pass(12 * second)
		}, job: []option{begins(func() corev1.Container {
			c := always(shell("proxy", polite))
			c.StartupProbe = probe(command("false"))
			c.StartupProbe.FailureThreshold = 100
			return c
		}())}},
	{name: "sidecarstart", did: "the startup probe of the native sidecar proxy fails, and it is started again and again, so main does not start",
		says: []string{`PodInitializing|proxy|starting`}, exits: []int32{143}, may: "crashloop", stage: stuck("CrashLoopBackOff"),
		job: []option{limit(5), begins(func() corev1.Container {
			c := always(shell("proxy", polite))
			c.StartupProbe = probe(command("false"))
			return c
		}())}},
}

// c0 returns the status of the container main; nil: there is none yet.
func c0(p *corev1.Pod) *corev1.ContainerStatus {
	for i := range p.Status.ContainerStatuses {
		if p.Status.ContainerStatuses[i].Name == "main" {
			return &p.Status.ContainerStatuses[i]
		}
	}
	return nil
}
