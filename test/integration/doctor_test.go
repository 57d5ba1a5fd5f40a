package integration

import (
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/natstest"
)

// TestTheDoctorTellsWellFromIll: beside a working controller it finds no problem. Then it finds each thing that the
// test breaks, and nothing else.
func TestTheDoctorTellsWellFromIll(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	w := newWorld(t)
	s := natstest.NewServer(t).Start()
	c := w.run("", "--cluster", "doctor", "--nats-url", s.URL())
	w.eventually("NATS has all", func() (bool, error) { return strings.Contains(readyz(t, c), "[+]nats ok"), nil })
	args := []string{"-n", w.namespace, "--log", c.Log(), "--log-max-size", "1Gi", "--cluster", "doctor", "--nats-url", s.URL()}
	ill := func(more ...string) string { return w.examined(append(args, more...)...) }
	if got := ill(); got != "" {
		t.Fatalf("beside a controller that works it finds\n%s", got)
	}

	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "unbound"}}
	if _, err := w.client.CoreV1().ServiceAccounts(w.namespace).Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := ill("--service-account", w.namespace+"/unbound"); !strings.Contains(got, "may not list, watch jobs (batch) in namespace "+w.namespace) ||
		!strings.Contains(got, "create, delete, patch pods (core)") || !strings.Contains(got, "create leases (coordination.k8s.io)") {
		t.Errorf("of an account without rights it says\n%s", got)
	}

	none, fail, port := admissionv1.SideEffectClassNone, admissionv1.Fail, int32(443)
	hook := &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "gone.example.com", FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			ClientConfig:      admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: w.namespace, Name: "gone", Port: &port}},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": w.namespace}},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create}, Rule: admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}},
		}},
	}
	hooks := w.client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	if _, err := hooks.Create(t.Context(), hook, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := ill(); !strings.Contains(got, "webhook gone.example.com of "+w.namespace+" has no ready pod behind service "+w.namespace+"/gone: creates of pods fail") {
		t.Errorf("of a webhook that is gone it says\n%s", got)
	}
	if err := hooks.Delete(t.Context(), hook.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}

	s.Stop()
	if got := ill(); !strings.Contains(got, "no servers available") {
		t.Errorf("of a NATS server that is gone it says\n%s", got)
	}
}

// examined runs the doctor as an administrator, and returns its problems, one line each.
func (w *world) examined(args ...string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), shared.Program, append([]string{"doctor", "--kubeconfig", w.cp.Kubeconfig(), "-o", "json"}, args...)...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if exit := new(exec.ExitError); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		w.t.Fatalf("doctor: %v\n%s", err, said.String())
	}
	var document struct {
		Items []struct{ Check, Level, Text, Do string }
	}
	if err := json.Unmarshal(out, &document); err != nil {
		w.t.Fatalf("doctor printed %s: %v", out, err)
	}
	var ill []string
	for _, f := range document.Items {
		if f.Level == "problem" {
			ill = append(ill, f.Check+": "+f.Text)
		}
	}
	if (len(ill) > 0) != (err != nil) {
		w.t.Errorf("doctor ended with %v, and finds %q", err, ill)
	}
	return strings.Join(ill, "\n")
}
