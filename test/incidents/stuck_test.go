package incidents

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// 12: no node matches its selector.
func unschedulable(s *scene) {
	t := s.create(maria, newJob("gpu-train", "train:2", template(func(p *corev1.PodTemplateSpec) {
		p.Spec.NodeSelector = map[string]string{"gpu": "h100"}
	})))
	t.want = "Deleted, 1 deleted"
	t.Cause = "no node has the label gpu=h100 that its pod wants; maria deleted it after a while"
	t.Says = []string{"nodes are available"}
	v := s.await(t, "its pod cannot be scheduled", func(v view) bool { return len(v.live()) == 1 && unplaced(v.live()[0]) })
	t.FirstPod = v.live()[0].Name
	s.pass(10 * time.Second)
	s.deleteJob(maria, t.Job, metav1.DeletePropagationBackground)
	s.awaitGone(t)
}

func unplaced(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return true
		}
	}
	return false
}

// 13: an image that does not exist.
func imagePull(s *scene) {
	t := s.create(maria, newJob("badimage", "badimage:1.4.2", byHand()))
	t.want = "Deleted, 1 deleted"
	t.Cause = "the image registry.corp/badimage:1.4.2 does not exist; maria deleted the Job after a while"
	t.Says = []string{"ImagePullBackOff", "badimage:1.4.2"}
	t.Played = "the kubelet, whose waits of 10 s and more are 2 s here"
	p := s.awaitPlaced(t)
	t.FirstPod = p.Name
	const missing = `rpc error: code = NotFound desc = failed to pull and unpack image "registry.corp/badimage:1.4.2": not found`
	for range 2 {
		s.kubelet(p, waits(0, "ErrImagePull", missing))
		s.pass(time.Second)
		s.kubelet(p, waits(0, "ImagePullBackOff", `Back-off pulling image "registry.corp/badimage:1.4.2": ErrImagePull: `+missing))
		s.pass(2 * time.Second)
	}
	s.pass(4 * time.Second)
	s.deleteJob(maria, t.Job, metav1.DeletePropagationBackground)
	s.awaitGone(t)
}
