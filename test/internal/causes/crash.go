package causes

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// crashes returns the kubelet's status writes about a container that exits with code 3 three times. After the first
// exit the kubelet restarts it at once, after the second it reports a back-off of 10 s, after the third one of 20 s.
func crashes() []Step {
	steps := once(Runs(0))
	for i, wait := range []string{"", "10s", "20s"} {
		steps = append(steps, after(time.Second, Ends(0, 3, "Error", "")))
		if wait != "" {
			steps = append(steps, Step{time.Second / 2, func(p *corev1.Pod, status *corev1.PodStatus) {
				message := fmt.Sprintf("back-off %s restarting failed container=main pod=%s_%s(%s)", wait, p.Name, p.Namespace, p.UID)
				Waits(0, "CrashLoopBackOff", message)(status)
			}})
		}
		if i < 2 {
			steps = append(steps, after(time.Second, Runs(0)))
		}
	}
	return steps
}
