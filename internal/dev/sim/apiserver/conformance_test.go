package apiserver

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/jobledger/jobledger/internal/dev/patience"
)

// The transcripts in testdata/real were recorded from a real kube-apiserver. The model must give the same transcripts.
// To record them again, run in test/:
//
//	go run ./cmd/cluster --exec -- go test ../internal/dev/sim/apiserver -run Conformance -record
var record = flag.Bool("record", false, "record testdata/real from the server that KUBECONFIG names")

// api lists the calls of the scripts below, on the model or on a real server.
type api interface {
	createJob(*batchv1.Job) (*batchv1.Job, error)
	job(name string) (*batchv1.Job, error)
	updateJob(*batchv1.Job) (*batchv1.Job, error)
	updateJobStatus(*batchv1.Job) (*batchv1.Job, error)
	deleteJob(name string, policy metav1.DeletionPropagation) error
	createPod(*corev1.Pod) (*corev1.Pod, error)
	pod(name string) (*corev1.Pod, error)
	patchPod(name, patch string) (*corev1.Pod, error)
	deletePod(name string, opts DeleteOptions) error
	bind(name string) error
	phase(name string, phase corev1.PodPhase) error
	// removal returns the pod as a watch showed it at its removal.
	removal(name string) (corev1.Pod, error)
}

const conformanceNamespace = "conformance"

// onModel is an api that calls the model.
type onModel struct{ *Client }

func (m onModel) createJob(j *batchv1.Job) (*batchv1.Job, error) { return m.CreateJob(ctx, j) }
func (m onModel) job(name string) (*batchv1.Job, error) {
	return m.GetJob(ctx, conformanceNamespace, name)
}
func (m onModel) updateJob(j *batchv1.Job) (*batchv1.Job, error) { return m.UpdateJob(ctx, j) }
func (m onModel) updateJobStatus(j *batchv1.Job) (*batchv1.Job, error) {
	return m.UpdateJobStatus(ctx, j)
}
func (m onModel) deleteJob(name string, policy metav1.DeletionPropagation) error {
	return m.DeleteJob(ctx, conformanceNamespace, name, "", policy)
}
func (m onModel) createPod(p *corev1.Pod) (*corev1.Pod, error) { return m.CreatePod(ctx, p) }
func (m onModel) pod(name string) (*corev1.Pod, error) {
	return m.FindPod(ctx, conformanceNamespace, name)
}
func (m onModel) patchPod(name, patch string) (*corev1.Pod, error) {
	return m.PatchPod(ctx, conformanceNamespace, name, []byte(patch))
}
func (m onModel) deletePod(name string, opts DeleteOptions) error {
	return m.Delete(ctx, Pods, conformanceNamespace, name, opts)
}
func (m onModel) bind(name string) error {
	return m.BindPod(ctx, conformanceNamespace, name, "", "elsewhere")
}
func (m onModel) phase(name string, phase corev1.PodPhase) error {
	return m.UpdatePodStatus(ctx, conformanceNamespace, name, "", func(s *corev1.PodStatus) { s.Phase = phase })
}
func (m onModel) removal(name string) (corev1.Pod, error) {
	cursor, err := m.server.Watch(Pods, 0)
	for err == nil {
		var e Event
		var more bool
		if e, more, err = cursor.Next(); !more {
			break
		}
		if e.Type == "DELETED" && e.Object.GetName() == name {
			return *e.Object.(*corev1.Pod), nil
		}
	}
	return corev1.Pod{}, errors.New("no removal")
}

// onReal is an api that calls a real server.
type onReal struct {
	kubernetes.Interface
	ctx context.Context
}

func (r onReal) createJob(j *batchv1.Job) (*batchv1.Job, error) {
	return r.BatchV1().Jobs(conformanceNamespace).Create(r.ctx, j, metav1.CreateOptions{})
}
func (r onReal) job(name string) (*batchv1.Job, error) {
	return r.BatchV1().Jobs(conformanceNamespace).Get(r.ctx, name, metav1.GetOptions{})
}
func (r onReal) updateJob(j *batchv1.Job) (*batchv1.Job, error) {
	return r.BatchV1().Jobs(conformanceNamespace).Update(r.ctx, j, metav1.UpdateOptions{})
}
func (r onReal) updateJobStatus(j *batchv1.Job) (*batchv1.Job, error) {
	return r.BatchV1().Jobs(conformanceNamespace).UpdateStatus(r.ctx, j, metav1.UpdateOptions{})
}
func (r onReal) deleteJob(name string, policy metav1.DeletionPropagation) error {
	return r.BatchV1().Jobs(conformanceNamespace).Delete(r.ctx, name, metav1.DeleteOptions{PropagationPolicy: &policy})
}
func (r onReal) createPod(p *corev1.Pod) (*corev1.Pod, error) {
	return r.CoreV1().Pods(conformanceNamespace).Create(r.ctx, p, metav1.CreateOptions{})
}
func (r onReal) pod(name string) (*corev1.Pod, error) {
	return r.CoreV1().Pods(conformanceNamespace).Get(r.ctx, name, metav1.GetOptions{})
}
func (r onReal) patchPod(name, patch string) (*corev1.Pod, error) {
	return r.CoreV1().Pods(conformanceNamespace).Patch(r.ctx, name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
}
func (r onReal) deletePod(name string, opts DeleteOptions) error {
	options := metav1.DeleteOptions{GracePeriodSeconds: opts.GraceSeconds, Preconditions: &metav1.Preconditions{}}
	if opts.UID != "" {
		options.Preconditions.UID = &opts.UID
	}
	if opts.ResourceVersion != "" {
		options.Preconditions.ResourceVersion = &opts.ResourceVersion
	}
	return r.CoreV1().Pods(conformanceNamespace).Delete(r.ctx, name, options)
}
func (r onReal) bind(name string) error {
	return r.CoreV1().Pods(conformanceNamespace).Bind(r.ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: conformanceNamespace, Name: name}, Target: corev1.ObjectReference{Kind: "Node", Name: "elsewhere"},
	}, metav1.CreateOptions{})
}
func (r onReal) phase(name string, phase corev1.PodPhase) error {
	patch := fmt.Appendf(nil, `{"status":{"phase":%q}}`, phase)
	_, err := r.CoreV1().Pods(conformanceNamespace).Patch(r.ctx, name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}
func (r onReal) removal(name string) (corev1.Pod, error) {
	ctx, cancel := patience.Context(r.ctx)
	defer cancel()
	w, err := r.CoreV1().Pods(conformanceNamespace).Watch(ctx, metav1.ListOptions{ResourceVersion: "1", FieldSelector: "metadata.name=" + name})
	if err != nil {
		return corev1.Pod{}, err
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if pod, ok := e.Object.(*corev1.Pod); ok && e.Type == "DELETED" {
			return *pod, nil
		}
	}
	return corev1.Pod{}, errors.New("no removal")
}

// TestConformance: the model answers as the real server did.
func TestConformance(t *testing.T) {
	for _, script := range []struct {
		name string
		run  func(api, *transcript)
	}{
		{"jobs", jobScript}, {"pods", podScript}, {"status", statusScript},
	} {
		t.Run(script.name, func(t *testing.T) {
			file := filepath.Join("testdata", "real", script.name+".txt")
			if *record {
				var real transcript
				script.run(realServer(t), &real)
				if err := os.WriteFile(file, []byte(real.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			client := newServer(1).Client("test")
			must(client.CreateNamespace(ctx, conformanceNamespace))(t)
			var got transcript
			script.run(onModel{client}, &got)
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
				t.Errorf("the model differs from the real server (-real +model):\n%s", diff)
			}
		})
	}
}

// realServer returns an api for the server that KUBECONFIG names, with an empty namespace that admits pods.
func realServer(t *testing.T) api {
	t.Helper()
	config := must(clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG")))(t)
	config.QPS = -1
	clients := must(kubernetes.NewForConfig(config))(t)
	ctx := t.Context()
	_, err := clients.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: conformanceNamespace}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	_, err = clients.CoreV1().ServiceAccounts(conformanceNamespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	return onReal{clients, ctx}
}

// transcript holds the answers that a script got, without details that differ from run to run.
type transcript struct{ strings.Builder }

func (t *transcript) say(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// answer describes the answer to a call: its reason, and the fields that an Invalid answer blames.
func answer(err error) string {
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return "ok"
	case !errors.As(err, &status):
		return err.Error()
	}
	text := string(status.Status().Reason)
	if d := status.Status().Details; d != nil && apierrors.IsInvalid(err) {
		var fields []string
		for _, c := range d.Causes {
			fields = append(fields, c.Field)
		}
		slices.Sort(fields)
		text += fmt.Sprint(" ", slices.Compact(fields))
	}
	return text
}
