package causes

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	notFound = `rpc error: code = NotFound desc = failed to pull and unpack image "registry.corp/etl:1.9.0": failed to resolve image: registry.corp/etl:1.9.0: not found`
	denied   = `failed to pull and unpack image "registry.corp/etl:1.9.0": failed to resolve image: failed to authorize: failed to fetch anonymous token: ` +
		`unexpected status from GET request to https://registry.corp/token?scope=repository%3Aetl%3Apull&service=registry.corp: 401 Unauthorized`
	backOff  = `Back-off pulling image "registry.corp/etl:1.9.0": ErrImagePull: `
	noRun    = `failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: "/app/run": stat /app/run: no such file or directory`
	notThere = "The container could not be located when the pod was terminated"
	wasThere = "The container could not be located when the pod was deleted.  The container used to be Running"
	someID   = "f3b5ac84d89283c8395adb2b13bda4bfb068b7e77ce973b6de41d9fb14d89a1b"
)

// table lists the causes for which a kubelet changes a pod's status, with the messages of Kubernetes 1.36.
var table = []Cause{
	{Name: "pressure", Did: "the kubelet evicted the pod: its node was low on memory", Exits: []int32{137}, Runs: true,
		Says: []string{`low on resource: memory|evicted by (its|the) (node|kubelet)`}, May: "eviction pressure", Words: once(podEnds("Evicted",
			"The node was low on resource: memory. Threshold quantity: 100Mi, available: 52Mi. Container main was using 612Mi, request is 0, has larger consumption of memory. ",
			true, 137, "Error", ""))},
	{Name: "shutdown", Did: "the kubelet ended the pod: its node shut down", Exits: []int32{143}, Runs: true,
		Says: []string{`shutdown`}, May: "shutdown", Words: once(podEnds("Terminated",
			"Pod was terminated in response to imminent node shutdown.", true, 143, "Error", ""))},
	{Name: "storage", Did: "the kubelet evicted the pod: it had used more ephemeral storage than its limit", Exits: []int32{137}, Runs: true,
		Says: []string{`ephemeral`}, May: "eviction storage", Words: once(All(lost(true), func(st *corev1.PodStatus) {
			st.Reason, st.Message = "Evicted", "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. "
		}))},
	{Name: "poddeadline", Exits: []int32{143}, Did: "the pod's own activeDeadlineSeconds passed", Runs: true,
		Says: []string{`own activeDeadlineSeconds|Pod was active on the node|pod's deadline`}, May: "deadline", Words: append(once(unready),
			after(soon, podEnds("DeadlineExceeded", "Pod was active on the node longer than the specified deadline", false, 143, "Error", "")))},
	{Name: "oom", Did: "container main was OOMKilled", Exits: []int32{137}, Runs: true,
		Says: []string{`OOMKilled`, `137`}, May: "oom", Words: exits(137, "OOMKilled", "")},
	{Name: "killed", Did: "container main was killed (137), not by the OOM killer", Exits: []int32{137}, Runs: true,
		Says: []string{`exit(ed)? 137`}, Words: exits(137, "Error", "")},
	{Name: "exit", Did: "container main exited 42, with a termination message", Exits: []int32{42}, Runs: true,
		Says: []string{`exit(ed)? 42`}, Words: exits(42, "Error", "db: connection refused by 10.0.0.7:5432\n")},
	{Name: "start", Did: "container main could not be started: its command does not exist", Exits: []int32{128},
		Says: []string{`StartError|128`}, Words: exits(128, "StartError", noRun)},
	{Name: "unknown", Did: "the container was gone when the kubelet came back", Exits: []int32{137}, Runs: true,
		Says: []string{`ContainerStatusUnknown|137`}, Words: once(lost(true))},
	{Name: "outofcpu", Did: "the kubelet rejected the pod: not enough cpu",
		Says: []string{`OutOfcpu|enough resource`}, May: "rejected", Words: once(rejects("OutOfcpu",
			"Pod was rejected: Node didn't have enough resource: cpu, requested: 1000, used: 3800, capacity: 4000"))},
	{Name: "device", Did: "the kubelet rejected the pod: no device",
		Says: []string{`UnexpectedAdmissionError|Allocate failed`}, May: "rejected", Words: once(rejects("UnexpectedAdmissionError",
			"Pod was rejected: Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: 1, Available: 0, which is unexpected"))},
	{Name: "affinity", Did: "the kubelet rejected the pod: the labels of its node had changed",
		Says: []string{`NodeAffinity`}, May: "rejected", Words: once(rejects("NodeAffinity",
			"Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"))},

	{Name: "pull", Did: "the image does not exist", Says: []string{`ImagePullBackOff|ErrImagePull`, `not found`}, May: "pull",
		Words: append(waiting("ErrImagePull", notFound), after(soon, Waits(0, "ImagePullBackOff", backOff+notFound)))},
	{Name: "pulldenied", Did: "the registry refuses the pull secret", Says: []string{`ImagePullBackOff|ErrImagePull`, `401 Unauthorized`}, May: "pull",
		Words: append(waiting("ErrImagePull", denied), after(soon, Waits(0, "ImagePullBackOff", backOff+denied)))},
	{Name: "badname", Did: "the name of the image is none", Says: []string{`InvalidImageName`}, May: "pull", Words: waiting("InvalidImageName",
		`Failed to apply default image tag "registry.corp/ETL:1": couldn't parse image name "registry.corp/ETL:1": invalid reference format: repository name (ETL) must be lowercase`)},
	{Name: "secret", Did: "the Secret db-credentials does not exist", Says: []string{`secret "db-credentials" not found`}, May: "config",
		Words: waiting("CreateContainerConfigError", `secret "db-credentials" not found`)},
	{Name: "configmap", Did: "the ConfigMap settings does not exist", Says: []string{`configmap "settings" not found`}, May: "config",
		Words: waiting("CreateContainerConfigError", `configmap "settings" not found`)},
	{Name: "createerror", Did: "the runtime cannot make the container", Says: []string{`CreateContainerError`}, May: "config",
		Words: waiting("CreateContainerError", `failed to generate container "`+someID+`" spec: failed to generate spec: no command specified`)},
	{Name: "volume", Did: "the Secret of a volume does not exist: the kubelet says so in an Event alone", Says: []string{`ContainerCreating`},
		Words: waiting("ContainerCreating", "")},
	{Name: "crashloop", Exits: []int32{3}, Did: "container main exits 3 again and again", Says: []string{`CrashLoop|restart`, `exit(ed)? 3`}, May: "crashloop",
		Words: crashes()},
}

// waiting returns the kubelet's status write about a container that waits to start.
func waiting(reason, message string) []Step { return once(Waits(0, reason, message)) }

// exits returns the kubelet's status writes about a container that ends: first the end of the container, and soon after
// it that of the pod.
func exits(code int32, reason, message string) []Step {
	return append(once(Ends(0, code, reason, message)), after(soon, Is(corev1.PodFailed)))
}

// podEnds returns the kubelet's status change when it ends a pod, such as an eviction. reason and message are those of
// the pod, why and says those of its container, which exits with code. disrupts adds the condition DisruptionTarget.
func podEnds(reason, message string, disrupts bool, code int32, why, says string) func(*corev1.PodStatus) {
	return All(Ends(0, code, why, says), Is(corev1.PodFailed), func(st *corev1.PodStatus) {
		st.Reason, st.Message = reason, message
		if disrupts {
			st.Conditions = append(st.Conditions, corev1.PodCondition{
				Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonTerminationByKubelet,
				Message: message, LastTransitionTime: metav1.Now(),
			})
		}
	})
}

// rejects returns the kubelet's status change for a pod that it does not admit: no container is ever created.
func rejects(reason, message string) func(*corev1.PodStatus) {
	return func(st *corev1.PodStatus) {
		*st = corev1.PodStatus{Phase: corev1.PodFailed, Reason: reason, Message: message, StartTime: st.StartTime, QOSClass: st.QOSClass}
	}
}

// lost returns the kubelet's status change for a pod with a container that it cannot find any more. The kubelet invents
// an exit code. If the container ran, it also counts a restart that never happened.
func lost(ran bool) func(*corev1.PodStatus) {
	return func(st *corev1.PodStatus) {
		end := func(message string) corev1.ContainerState {
			return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "ContainerStatusUnknown", Message: message}}
		}
		c := &st.ContainerStatuses[0]
		c.Ready, c.Started, c.State = false, new(false), end(notThere)
		if ran {
			c.LastTerminationState = end(wasThere)
			c.RestartCount++
		}
		st.Phase = corev1.PodFailed
		setReady(st, false)
	}
}

func unready(st *corev1.PodStatus) { setReady(st, false) }
