package kubewire

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestPodsOfOneTemplateHaveOnePrint: what admission gives each pod of its own makes no other print, and everything else
// does.
func TestPodsOfOneTemplateHaveOnePrint(t *testing.T) {
	spec := func(change ...func(*corev1.PodSpec)) uint64 {
		pod := endedPod()
		pod.Spec.NodeName = ""
		pod.Spec.InitContainers = []corev1.Container{{Name: "first"}}
		for _, c := range change {
			c(&pod.Spec)
		}
		read, err := Pods.Of(pod)
		if err != nil {
			t.Fatal(err)
		}
		return read.Spec.Print()
	}
	one := spec()
	for name, row := range map[string]struct {
		change func(*corev1.PodSpec)
		same   bool
	}{
		"another host name": {func(s *corev1.PodSpec) { s.Hostname = "a-7" }, true},
		"another name of the token": {func(s *corev1.PodSpec) {
			s.Volumes[0].Name, s.Containers[0].VolumeMounts[0].Name = TokenVolume+"zzzzz", TokenVolume+"zzzzz"
		}, true},
		"the variable of the index": {func(s *corev1.PodSpec) {
			s.Containers[0].Env = append(s.Containers[0].Env, corev1.EnvVar{Name: IndexVariable, Value: "7"})
		}, true},
		"no token": {func(s *corev1.PodSpec) { s.Volumes, s.Containers[0].VolumeMounts = nil, nil }, true},
		"another variable": {func(s *corev1.PodSpec) {
			s.Containers[0].Env = append(s.Containers[0].Env, corev1.EnvVar{Name: "A", Value: "7"})
		}, false},
		"another mount": {func(s *corev1.PodSpec) {
			s.Containers[0].VolumeMounts = append(s.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "a", MountPath: "/a"})
		}, false},
		"another volume":         {func(s *corev1.PodSpec) { s.Volumes = append(s.Volumes, corev1.Volume{Name: "a"}) }, false},
		"another image":          {func(s *corev1.PodSpec) { s.Containers[0].Image = "other" }, false},
		"another container":      {func(s *corev1.PodSpec) { s.Containers = append(s.Containers, corev1.Container{Name: "proxy"}) }, false},
		"another init container": {func(s *corev1.PodSpec) { s.InitContainers[0].Image = "other" }, false},
		"another account":        {func(s *corev1.PodSpec) { s.ServiceAccountName = "other" }, false},
		"a toleration less":      {func(s *corev1.PodSpec) { s.Tolerations = s.Tolerations[:1] }, false},
	} {
		if same := spec(row.change) == one; same != row.same {
			t.Errorf("%s: the same print is %v, want %v", name, same, row.same)
		}
	}
}
