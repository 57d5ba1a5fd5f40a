//go:build linux

package situations

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	busybox        = "busybox:1.37"
	busyboxArchive = "busybox-1.37.oci.tar"
)

// Programs for a shell. Signals do not end the first process of a container by default.
const (
	polite   = `trap "exit 143" TERM; sleep 1000 & wait`
	impolite = `trap "" TERM; while :; do sleep 1; done`
)

// newJob returns a Job of one pod with one container, main, that runs until it is asked to end. One failure ends the
// Job.
func newJob(options ...func(*batchv1.Job)) *batchv1.Job {
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "etl", Labels: map[string]string{"app": "etl", "team": "data"}},
		Spec: batchv1.JobSpec{
			BackoffLimit: new(int32(0)),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: new(int64(2)),
				Containers: []corev1.Container{shell("main", polite)},
			}},
		},
	}
	for _, o := range options {
		if o != nil {
			o(j)
		}
	}
	return j
}

// shell returns a container that runs a shell script.
func shell(name, script string) corev1.Container {
	return corev1.Container{Name: name, Image: busybox, Command: []string{"sh", "-c", script}}
}

// always makes an init container a sidecar, which keeps running beside the others.
func always(c corev1.Container) corev1.Container {
	c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
	return c
}

type option = func(*batchv1.Job)

func pod(change func(*corev1.PodSpec)) option {
	return func(j *batchv1.Job) { change(&j.Spec.Template.Spec) }
}

// container changes the container main.
func container(change func(*corev1.Container)) option {
	return pod(func(p *corev1.PodSpec) { change(&p.Containers[0]) })
}

// runs makes the container main run a script.
func runs(script string) option {
	return container(func(c *corev1.Container) { c.Command = []string{"sh", "-c", script} })
}

func limit(n int32) option { return func(j *batchv1.Job) { j.Spec.BackoffLimit = &n } }

func onFailure() option {
	return pod(func(p *corev1.PodSpec) { p.RestartPolicy = corev1.RestartPolicyOnFailure })
}

func grace(seconds int64) option {
	return pod(func(p *corev1.PodSpec) { p.TerminationGracePeriodSeconds = &seconds })
}

func image(name string) option { return container(func(c *corev1.Container) { c.Image = name }) }

func limits(name corev1.ResourceName, most string) option {
	return container(func(c *corev1.Container) {
		c.Resources.Limits = corev1.ResourceList{name: resource.MustParse(most)}
	})
}

func requests(name corev1.ResourceName, least string) option {
	return container(func(c *corev1.Container) {
		c.Resources.Requests = corev1.ResourceList{name: resource.MustParse(least)}
	})
}

// begins adds an init container.
func begins(c corev1.Container) option {
	return pod(func(p *corev1.PodSpec) { p.InitContainers = append(p.InitContainers, c) })
}

// beside adds a container beside main.
func beside(c corev1.Container) option {
	return pod(func(p *corev1.PodSpec) { p.Containers = append(p.Containers, c) })
}

// variable gives the container main an environment variable from a source.
func variable(from corev1.EnvVarSource) option {
	return container(func(c *corev1.Container) { c.Env = []corev1.EnvVar{{Name: "PASSWORD", ValueFrom: &from}} })
}

// volume mounts a volume at /data in the container main.
func volume(source corev1.VolumeSource) option {
	return pod(func(p *corev1.PodSpec) {
		p.Volumes = []corev1.Volume{{Name: "data", VolumeSource: source}}
		p.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	})
}

// probe returns a probe that runs each second, and fails at its first failure.
func probe(how corev1.ProbeHandler) *corev1.Probe {
	return &corev1.Probe{ProbeHandler: how, PeriodSeconds: 1, FailureThreshold: 1, InitialDelaySeconds: 2}
}

func command(words ...string) corev1.ProbeHandler {
	return corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: words}}
}

// bears makes the pods tolerate a NoExecute taint for some seconds.
func bears(taint string, seconds int64) option {
	return pod(func(p *corev1.PodSpec) {
		p.Tolerations = append(p.Tolerations, corev1.Toleration{
			Key: taint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds,
		})
	})
}
