//go:build linux

package situations

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/test/node"
)

// stuck: a container waits for a reason, and keeps waiting.
func stuck(reason string) func(*situation) {
	return func(s *situation) {
		s.awaitWaiting(reason)
		s.pass(8 * second)
	}
}

// pulls are images that cannot be pulled. registry.corp is a server of the test, see registry_test.go.
var pulls = []row{
	{name: "pull", cause: "pull", job: []option{image("registry.corp/etl:1.9.0")}, stage: stuck("ImagePullBackOff")},
	{name: "pulldenied", cause: "pulldenied", job: []option{image("private.corp/etl:1.9.0")}, stage: stuck("ImagePullBackOff")},
	{name: "pullaway", did: "the registry does not listen", says: []string{`connection refused`}, may: "pull refused", job: []option{image("away.corp/etl:1.9.0")}, stage: stuck("ImagePullBackOff")},
	{name: "badname", cause: "badname", job: []option{image("registry.corp/ETL:1")}, stage: stuck("InvalidImageName")},
	{name: "never", did: "the image is not on the node, and may not be pulled", says: []string{`ErrImageNeverPull`}, may: "pull", stage: stuck("ErrImageNeverPull"),
		job: []option{image("registry.corp/etl:1.9.0"), container(func(c *corev1.Container) { c.ImagePullPolicy = corev1.PullNever })}},
	{name: "pulldeadline", cause: "pull", did: "activeDeadlineSeconds (15) passed;", says: []string{`activeDeadlineSeconds`}, pod: []string{`Job fails|Job controller|activeDeadlineSeconds`}, may: "deadline", stage: ends,
		job: []option{image("registry.corp/etl:1.9.0"), jobDeadline(15)}},
	{name: "initpull", did: "the image of an init container does not exist", says: []string{`ImagePullBackOff|ErrImagePull`, `migrate`}, may: "pull", stage: stuck("ImagePullBackOff"),
		job: []option{begins(corev1.Container{Name: "migrate", Image: "registry.corp/migrate:1"})}},
}

// configs are errors for which a container cannot be created.
var configs = []row{
	{name: "secret", cause: "secret", stage: stuck("CreateContainerConfigError"), job: []option{variable(corev1.EnvVarSource{SecretKeyRef: secretKey("db-credentials", "password")})}},
	{name: "secretkey", did: "the Secret db-credentials has no key password", says: []string{`couldn't find key password in Secret`}, may: "config", stage: stuck("CreateContainerConfigError"),
		prepare: func(s *situation) {
			_, err := s.as(maria).CoreV1().Secrets(s.name).Create(s.ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "db-credentials"}}, metav1.CreateOptions{})
			s.must(err)
		}, job: []option{variable(corev1.EnvVarSource{SecretKeyRef: secretKey("db-credentials", "password")})}},
	{name: "configmap", cause: "configmap", stage: stuck("CreateContainerConfigError"), job: []option{container(func(c *corev1.Container) {
		c.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}}
	})}},
	{name: "configdeadline", cause: "configmap", did: "activeDeadlineSeconds (12) passed;", says: []string{`activeDeadlineSeconds`}, pod: []string{`Job fails|Job controller|activeDeadlineSeconds`}, may: "deadline", stage: ends,
		job: []option{variable(corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}, Key: "url"}}), jobDeadline(12)}},
	{name: "root", did: "the container may not run as root, and its image does", says: []string{`runAsNonRoot`}, may: "config", stage: stuck("CreateContainerConfigError"),
		job: []option{container(func(c *corev1.Container) { c.SecurityContext = &corev1.SecurityContext{RunAsNonRoot: new(true)} })}},
	{name: "createerror", cause: "createerror", stage: stuck("CreateContainerError"), job: []option{container(func(c *corev1.Container) { c.Command = nil })}},
	{name: "volume", cause: "volume", stage: stuck("ContainerCreating"), job: []option{volume(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "db-credentials"}})}},
	{name: "handler", did: "the runtime has no handler runsc: the kubelet says so in an Event alone", says: []string{`ContainerCreating`}, stage: stuck("ContainerCreating"),
		prepare: func(s *situation) {
			_, err := s.admin.NodeV1().RuntimeClasses().Create(s.ctx, &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: s.name}, Handler: "runsc"}, metav1.CreateOptions{})
			s.must(err)
		}, named: func(name string) option { return pod(func(p *corev1.PodSpec) { p.RuntimeClassName = &name }) }},
}

// starts are containers that cannot be started.
var starts = []row{
	{name: "start", cause: "start", stage: ends, job: []option{container(func(c *corev1.Container) { c.Command = []string{"/app/run"} })}},
	{name: "startloop", did: "container main cannot be started, again and again: its command does not exist", says: []string{`RunContainerError|StartError|CrashLoop`, `/app/run`}, pod: []string{`RunContainerError|CrashLoop`}, may: "crashloop",
		exits: []int32{128}, stage: stuck("CrashLoopBackOff"), job: []option{limit(5), onFailure(), container(func(c *corev1.Container) { c.Command = []string{"/app/run"} })}},
	{name: "outofcpu", cause: "outofcpu", stage: ends, job: []option{placed(), requests(corev1.ResourceCPU, "1k")}},
	{name: "affinity", cause: "affinity", stage: ends, job: []option{placed(), pod(func(p *corev1.PodSpec) { p.NodeSelector = map[string]string{"disk": "ssd"} })}},
}

// placed: the pods bypass the scheduler.
func placed() option { return pod(func(p *corev1.PodSpec) { p.NodeName = node.Name }) }

func jobDeadline(seconds int64) option {
	return func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = &seconds }
}

func secretKey(name, key string) *corev1.SecretKeySelector {
	return &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key}
}
