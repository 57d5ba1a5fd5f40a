//go:build linux

package situations

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const second = time.Second

// eventAlone: only an Event says that a probe or a hook failed.
const eventAlone = "the kubelet says in an Event alone what it killed the container for"

// kills are containers that the kernel or the kubelet kills.
var kills = []row{
	{name: "killed", cause: "killed", job: []option{runs(impolite)}, stage: func(s *situation) {
		p := s.awaitRunning()
		s.pass(2 * second)
		s.must(s.node.KillContainer(s.ctx, p.Status.ContainerStatuses[0].ContainerID))
		s.awaitEnd()
	}},
	{name: "oom", cause: "oom", job: []option{limits(corev1.ResourceMemory, "32Mi"), runs(`sleep 2; x=0123456789; while :; do x=$x$x; done`)}, stage: ends},
	{name: "poddeadline", cause: "poddeadline", job: []option{pod(func(p *corev1.PodSpec) { p.ActiveDeadlineSeconds = new(int64(5)) })}, stage: ends},
	{name: "storage", cause: "storage", stage: ends,
		job: []option{limits(corev1.ResourceEphemeralStorage, "1Mi"), runs("dd if=/dev/zero of=/tmp/rows bs=1M count=8; " + impolite)}},
	{name: "emptydir", did: "the kubelet evicted the pod: its emptyDir held more than its limit", may: "eviction storage", exits: []int32{137}, stage: ends,
		says: []string{`EmptyDir`}, job: []option{runs("dd if=/dev/zero of=/data/rows bs=1M count=8; " + impolite),
			volume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: new(resource.MustParse("1Mi"))}})}},

	{name: "liveness", did: "the liveness probe failed, and the kubelet killed the container", says: []string{`exit(ed)? 143`}, exits: []int32{143}, untold: eventAlone, stage: ends,
		job: []option{container(func(c *corev1.Container) { c.LivenessProbe = probe(command("cat", "/tmp/alive")) })}},
	{name: "livenesskill", did: "the liveness probe failed over HTTP; the program ignored SIGTERM until its grace ended", says: []string{`exit(ed)? 137`}, exits: []int32{137},
		untold: eventAlone, stage: ends, job: []option{runs(impolite), container(func(c *corev1.Container) {
			c.LivenessProbe = probe(corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(8443), Scheme: corev1.URISchemeHTTPS}})
		})}},
	{name: "startup", did: "the startup probe failed, and the kubelet killed the container", says: []string{`exit(ed)? 143`}, exits: []int32{143}, untold: eventAlone, stage: ends,
		job: []option{container(func(c *corev1.Container) {
			c.StartupProbe = probe(corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(8080)}})
		})}},
	{name: "readiness", did: "nothing: the Job runs, and its pod is never ready", says: []string{`run`}, pod: []string{}, stage: func(s *situation) { s.awaitRunning(); s.pass(8 * second) },
		job: []option{container(func(c *corev1.Container) {
			c.ReadinessProbe = probe(corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(8080)}})
		})}},
	{name: "livenessloop", did: "the liveness probe failed again and again, and the kubelet started the container again", says: []string{`exit(ed)? 143`, `restart|CrashLoop`}, pod: []string{`restart|CrashLoop`},
		may: "crashloop", exits: []int32{143}, untold: eventAlone,
		job: []option{limit(5), onFailure(), container(func(c *corev1.Container) { c.LivenessProbe = probe(command("false")) })},
		stage: func(s *situation) {
			s.awaitPod("it was started again", func(p *corev1.Pod) bool {
				return len(p.Status.ContainerStatuses) > 0 && p.Status.ContainerStatuses[0].RestartCount >= 1
			})
			s.pass(6 * second)
		}},
	{name: "poststart", did: "the hook postStart failed, and the kubelet killed the container", says: []string{`exit(ed)? 143`}, exits: []int32{143}, stage: ends,
		job: []option{container(func(c *corev1.Container) {
			c.Lifecycle = &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", "sleep 1; exit 7"}}}}
		})}},
	{name: "deadline", did: "activeDeadlineSeconds of the Job (6) passed while the pod ran", says: []string{`activeDeadlineSeconds`}, pod: []string{`Job fails|Job controller|activeDeadlineSeconds`}, may: "deadline", exits: []int32{143},
		job: []option{jobDeadline(6)}, stage: ends},
}
