package minors

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/built"
	"github.com/jobledger/jobledger/test/internal/controller"
)

const (
	jobsEachSecond = 15  // those of the benchmark's w7
	endsUnderEach  = 100 // at least, under each API server
)

// TestAPIServerIsReplaced: while Jobs of one pod come, 15 each second, the API server of an older version is killed and
// replaced by that of the newest one, and later by the older one again, on the same etcd. The controller keeps running.
// No Job is lost, none gets a second pod, and the log has no edit of a Job or CronJob, because nobody edited one. The
// other components are of the newest version all the time.
func TestAPIServerIsReplaced(t *testing.T) {
	if !effort.IsLong() {
		t.Skip("builds an older version of Kubernetes: JOBLEDGER_LONG=1")
	}
	program, err := built.Program(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, flavour{quick: true}, program)
	if err := s.cp.Replace(s.ctx, binaries.APIServer, controlplane.Release{Minor: withGangs}); err != nil {
		t.Fatal(err)
	}
	p := s.place("replaced", controller.NewUser)
	for _, grant := range []func(context.Context, *controlplane.ControlPlane, string, string) error{controller.GrantTTL, controller.GrantCronJobs} {
		if err := grant(s.ctx, s.cp, p.namespace, p.namespace); err != nil {
			t.Fatal(err)
		}
	}
	p.start("all", "--server-request-timeout=10s", "--leader-elect=false") // a Lease that is lost would end it
	p.create(newJob("stays-suspended", suspended, rich))
	p.createCronJob(newCronJob("stays-suspended", "0 0 * * *", true))
	p.createCronJob(newCronJob("runs", "@every 2s", false))
	loading, stop := context.WithCancel(s.ctx)
	made := make(chan int)
	go func() { made <- p.load(loading) }() // ends with stop
	defer stop()

	p.endMore(endsUnderEach)
	p.replaceAPIServer("")
	p.endMore(endsUnderEach)
	p.replaceAPIServer(withGangs)
	p.endMore(endsUnderEach)
	stop()
	n := <-made
	p.replaceKwok() // for pods that it lost; see there
	p.await("all Jobs have ended", func() bool { return p.ended() >= n })
	if err := p.ours.Stop(p.ctx); err != nil {
		t.Error(err)
	}
	p.allOnce(n)
	p.noEdits()
	if err := p.ours.Check(p.ctx); err != nil {
		t.Error(err)
	}
}

// rich gives the pod template fields that API servers default, of kinds that a newer version may default otherwise.
func rich(j *batchv1.Job) {
	spec := &j.Spec.Template.Spec
	spec.Volumes = []corev1.Volume{
		{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: "said", VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{
			{Path: "labels", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels"}},
		}}}},
	}
	spec.InitContainers = []corev1.Container{{Name: "beside", Image: "any", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}}
	spec.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: new(true), FSGroup: new(int64(7))}
	main := &spec.Containers[0]
	main.Env = []corev1.EnvVar{{Name: "NODE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}}}
	main.VolumeMounts = []corev1.VolumeMount{{Name: "scratch", MountPath: "/scratch"}, {Name: "said", MountPath: "/said", ReadOnly: true}}
	main.Ports = []corev1.ContainerPort{{ContainerPort: 80}}
	main.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}}
	main.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 1}}}
	j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:          batchv1.PodFailurePolicyActionIgnore,
		OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget}},
	}}}
}

func newCronJob(name, schedule string, suspended bool) *batchv1.CronJob {
	return &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.CronJobSpec{
			Schedule: schedule, Suspend: &suspended, ConcurrencyPolicy: batchv1.ForbidConcurrent,
			JobTemplate: batchv1.JobTemplateSpec{Spec: newJob(name, rich).Spec}, SuccessfulJobsHistoryLimit: new(int32(1000)),
		},
	}
}

func (p *place) createCronJob(c *batchv1.CronJob) {
	p.Helper()
	if _, err := p.client.BatchV1().CronJobs(p.namespace).Create(p.ctx, c, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
}

const loadPrefix = "load-"

// load creates Jobs until ctx is done, and returns how many. A create that fails is repeated, because the API server may
// be away.
func (p *place) load(ctx context.Context) (made int) {
	tick := time.NewTicker(time.Second / jobsEachSecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return made
		case <-tick.C:
		}
		job := newJob(fmt.Sprintf("%s%d", loadPrefix, made), runFor("500ms"))
		if made%5 == 0 {
			rich(job)
		}
		_, err := p.client.BatchV1().Jobs(p.namespace).Create(p.ctx, job, metav1.CreateOptions{})
		if err == nil || errors.IsAlreadyExists(err) {
			made++
		}
	}
}

// endMore waits until that many more Jobs of the load have ended.
func (p *place) endMore(n int) {
	p.Helper()
	before := p.ended()
	p.await(fmt.Sprintf("%d more Jobs have ended", n), func() bool { return p.ended() >= before+n })
	p.Logf("%d Jobs have ended under %s", p.ended()-before, p.cp.Version())
}

// ended counts the finished Jobs of the load.
func (p *place) ended() (n int) {
	p.Helper()
	for _, j := range p.jobs() {
		if strings.HasPrefix(j.Name, loadPrefix) && finished(&j) {
			n++
		}
	}
	return n
}

func (p *place) jobs() []batchv1.Job {
	p.Helper()
	list, err := p.client.BatchV1().Jobs(p.namespace).List(p.ctx, metav1.ListOptions{})
	if err != nil {
		p.Fatal(err)
	}
	return list.Items
}

// replaceAPIServer replaces only the API server.
func (p *place) replaceAPIServer(minor string) {
	p.Helper()
	if err := p.cp.Replace(p.ctx, binaries.APIServer, controlplane.Release{Minor: minor}); err != nil {
		p.Fatal(err)
	}
	info, err := p.client.Discovery().ServerVersion()
	if err != nil || info.GitVersion != p.cp.Version() {
		p.Fatalf("the server is %v, %v, want %s", info, err, p.cp.Version())
	}
	p.replaceKwok()
}

// replaceKwok starts kwok again. Unlike a kubelet, kwok does not repeat what failed while the API server was away; a new
// one plays all pods.
func (p *place) replaceKwok() {
	p.Helper()
	if err := p.cp.Replace(p.ctx, binaries.Kwok, controlplane.Release{}); err != nil {
		p.Fatal(err)
	}
}

// allOnce checks that each Job of the load is complete with one pod, counted once, and that no pod was deleted. A server
// that has just started refuses requests (403) until it has read the roles, and the controller repeats them.
func (p *place) allOnce(n int) {
	p.Helper()
	pods, err := p.client.CoreV1().Pods(p.namespace).List(p.ctx, metav1.ListOptions{})
	if err != nil {
		p.Fatal(err)
	}
	of := map[types.UID]int{}
	for i := range pods.Items {
		of[metav1.GetControllerOf(&pods.Items[i]).UID]++
	}
	complete, runs := 0, 0
	for _, j := range p.jobs() {
		o := ended(&j)
		switch {
		case j.Name == "stays-suspended":
			continue
		case o.condition == "" && !strings.HasPrefix(j.Name, loadPrefix): // a run of the CronJob at the end
			continue
		case o != outcome{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 1} || of[j.UID] != 1:
			p.Errorf("Job %s ended as %+v with %d pods", j.Name, o, of[j.UID])
		case strings.HasPrefix(j.Name, loadPrefix):
			complete++
		default:
			runs++
		}
	}
	if complete != n || runs == 0 {
		p.Errorf("%d of %d Jobs are complete, and %d of the CronJob", complete, n, runs)
	}
	for _, w := range p.writes() {
		if w.Resource == "pods" && strings.HasPrefix(w.Verb, "delete") || w.Code == http.StatusUnprocessableEntity {
			p.Errorf("the server answered %d to %s %s %s: %s", w.Code, w.Verb, w.Resource, w.Name, w.Message)
		}
	}
	p.Logf("%d Jobs are complete, each with one pod, and %d of the CronJob", complete, runs)
}

// noEdits checks that the log has one spec, generation and template of each Job and CronJob, no loss and no second
// controller, and one start. So no server version reads a stored object differently in a field that the log has.
func (p *place) noEdits() {
	p.Helper()
	records, err := p.ours.Records(p.ctx)
	if err != nil {
		p.Fatal(err)
	}
	kinds, specs := map[string]int{}, map[string]map[string]bool{}
	for i := range records {
		r := &records[i]
		kinds[r.Kind]++
		switch r.Kind {
		case "JobAdded", "JobChanged", "CronJobAdded", "CronJobChanged":
		default:
			continue
		}
		var facts struct{ Spec, Template, Schedule, Generation any }
		if err := r.Into(&facts); err != nil {
			p.Fatal(err)
		}
		if specs[r.Stream] == nil {
			specs[r.Stream] = map[string]bool{}
		}
		specs[r.Stream][fmt.Sprintf("spec %v, template %v, schedule %v, generation %v", facts.Spec, facts.Template, facts.Schedule, facts.Generation)] = true
	}
	for stream, all := range specs {
		if len(all) != 1 {
			p.Errorf("the log has %d versions of the spec of %s: %v", len(all), stream, all)
		}
	}
	for _, kind := range []string{"EpochChanged", "LossFound", "RivalFound"} {
		if kinds[kind] != 0 {
			p.Errorf("the log has %d records %s", kinds[kind], kind)
		}
	}
	if kinds["ControllerStarted"] != 1 {
		p.Errorf("the controller started %d times", kinds["ControllerStarted"])
	}
	p.Logf("%d Jobs and CronJobs have one spec each; records: %v", len(specs), kinds)
}
