package kubewire

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// endedPod is a pod of a Job as an API server shows it when it has ended.
func endedPod() *corev1.Pod {
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	fields := func(n int) *metav1.FieldsV1 {
		return metav1.NewFieldsV1(`{"f:metadata":{` + strings.Repeat(`"f:something":{},`, n) + `"f:last":{}}}`)
	}
	const uid = "6a4e1f0e-3c3f-4a0c-9d0e-2f9d0c7a0001"
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "large-x7k2p", GenerateName: "large-", Namespace: "bench-1", UID: "0d9b8a7c-1111-4222-8333-944455556666",
			ResourceVersion: "123456", CreationTimestamp: at,
			Labels: map[string]string{
				"batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": "large", "controller-uid": uid, "job-name": "large",
			},
			Annotations: map[string]string{
				"jobledger.dev/command": "00112233445566778899aabbccddeeff.1/" + uid + "/17", "jobledger.dev/seal": strings.Repeat("a", 43),
				"jobledger.dev/template": strings.Repeat("b", 32), "jobledger.dev/term": "3",
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "batch/v1", Kind: "Job", Name: "large", UID: uid, Controller: new(true), BlockOwnerDeletion: new(true),
			}},
			Finalizers: []string{"batch.kubernetes.io/job-tracking"},
			ManagedFields: []metav1.ManagedFieldsEntry{
				{Manager: "jobledger", Operation: "Update", APIVersion: "v1", Time: &at, FieldsType: "FieldsV1", FieldsV1: fields(50)},
				{Manager: "kubelet", Operation: "Update", APIVersion: "v1", Time: &at, FieldsType: "FieldsV1", FieldsV1: fields(40), Subresource: "status"},
			},
		},
		Spec: corev1.PodSpec{
			NodeName: "node-1", RestartPolicy: "Never", DNSPolicy: "ClusterFirst", SchedulerName: "default-scheduler",
			SecurityContext: &corev1.PodSecurityContext{}, TerminationGracePeriodSeconds: new(int64(30)),
			Containers: []corev1.Container{{
				Name: "main", Image: "registry.example.com/team/worker:1.2.3", Command: []string{"sh", "-c", "work"},
				TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: "File", ImagePullPolicy: "IfNotPresent",
				VolumeMounts: []corev1.VolumeMount{{Name: "kube-api-access-abcde", ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"}},
			}},
			Volumes: []corev1.Volume{{Name: "kube-api-access-abcde", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
				Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}}},
			}}}},
			Tolerations: []corev1.Toleration{
				{Key: corev1.TaintNodeNotReady, Operator: "Exists", Effect: "NoExecute", TolerationSeconds: new(int64(300))},
				{Key: corev1.TaintNodeUnreachable, Operator: "Exists", Effect: "NoExecute", TolerationSeconds: new(int64(300))},
			},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodSucceeded, HostIP: "10.0.0.1", PodIP: "10.1.2.3", StartTime: &at, QOSClass: "BestEffort",
			ContainerStatuses: []corev1.ContainerStatus{{
				Name: "main", Image: "registry.example.com/team/worker:1.2.3", ImageID: "sha256:" + strings.Repeat("c", 64),
				ContainerID: "containerd://" + strings.Repeat("d", 64),
				State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
					Reason: "Completed", StartedAt: at, FinishedAt: at, ContainerID: "containerd://" + strings.Repeat("d", 64),
				}},
			}},
		},
	}
	for n, name := range []string{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
			Type: corev1.PodConditionType(name), Status: corev1.ConditionStatus(map[bool]string{true: "True", false: "False"}[n%2 == 0]),
			LastTransitionTime: at, Reason: "PodCompleted",
		})
	}
	return pod
}
