package incidents

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// 6: a quota has no room for its pods, until a user raises it.
func quota(s *scene) {
	quotas := s.as(tom).CoreV1().ResourceQuotas(s.name)
	q, err := quotas.Create(s.ctx, &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "team-data"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
	}, metav1.CreateOptions{})
	s.must(err)
	s.eventually("the quota holds", func() bool {
		q, err = quotas.Get(s.ctx, q.Name, metav1.GetOptions{})
		return err == nil && len(q.Status.Hard) > 0
	})
	t := s.create(maria, newJob("invoice", "invoice:11", size(2, 2)))
	t.want = "Complete CompletionsReached, 0 deleted, refused"
	t.Cause = "the quota team-data allowed no pods until tom raised it"
	t.Says = []string{"quota"}
	t.Untold = s.refusedToAnother(t.Says)
	s.pass(12 * time.Second)
	q.Spec.Hard[corev1.ResourcePods] = resource.MustParse("10")
	_, err = quotas.Update(s.ctx, q, metav1.UpdateOptions{FieldManager: "kubectl-edit"})
	s.must(err)
	t.Note = "tom raised the quota at " + now().Format(time.RFC3339Nano)
	s.awaitEnd(t)
}

// refusedToAnother returns what an observing Jobledger cannot tell of a refusal.
func (s *scene) refusedToAnother(says []string) *untold {
	if s.mode != observed {
		return nil
	}
	return &untold{
		Says:    says,
		Because: "the API server tells a refusal to the controller that asked, and no Job or pod shows it",
		Instead: []string{"no pod came", "missing: what the API server answered the built-in controller"},
	}
}

// inThisNamespace limits a webhook to the namespace of this incident.
func (s *scene) inThisNamespace() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: s.name}}
}

var podCreates = []admissionregistrationv1.RuleWithOperations{{
	Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
	Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
}}

// 9: a required webhook does not answer.
func webhookDown(s *scene) {
	hooks := s.as(tom).AdmissionregistrationV1().ValidatingWebhookConfigurations()
	_, err := hooks.Create(s.ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "policy"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "pods.policy.corp", Rules: podCreates, NamespaceSelector: s.inThisNamespace(),
			FailurePolicy:           new(admissionregistrationv1.Fail),
			SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"}, TimeoutSeconds: new(int32(1)),
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				Service: &admissionregistrationv1.ServiceReference{Namespace: "policy", Name: "policy-webhook"},
			},
		}},
	}, metav1.CreateOptions{})
	s.must(err)
	s.eventually("the API server asks the webhook", func() bool {
		_, err := s.admin.CoreV1().Pods(s.name).Create(s.ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "probe"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "any"}}},
		}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err != nil
	})
	t := s.create(maria, newJob("billing", "billing:3"))
	t.want = "Complete CompletionsReached, 0 deleted, refused"
	t.Cause = "the admission webhook pods.policy.corp, whose failurePolicy is Fail, could not be called, until tom removed it"
	t.Says = []string{"webhook", "pods.policy.corp"}
	t.Untold = s.refusedToAnother(t.Says)
	t.Note = "the service of the webhook does not exist"
	s.pass(12 * time.Second)
	s.must(hooks.Delete(s.ctx, "policy", metav1.DeleteOptions{}))
	s.awaitEnd(t)
}

// 23: a webhook adds a container that never ends.
func mutated(s *scene) {
	server := httptest.NewTLSServer(http.HandlerFunc(inject))
	defer server.Close()
	hooks := s.as(tom).AdmissionregistrationV1().MutatingWebhookConfigurations()
	_, err := hooks.Create(s.ctx, &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "mesh"},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "inject.mesh.corp", Rules: podCreates, NamespaceSelector: s.inThisNamespace(),
			FailurePolicy:           new(admissionregistrationv1.Fail),
			SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				URL:      new(server.URL + "/inject"),
				CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
			},
		}},
	}, metav1.CreateOptions{})
	s.must(err)
	s.eventually("the API server asks the webhook", func() bool {
		p, err := s.admin.CoreV1().Pods(s.name).Create(s.ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "probe"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "any"}}},
		}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		s.must(err)
		return len(p.Spec.Containers) == 2
	})
	t := s.create(maria, newJob("export", "export:4", byHand(), deadline(15)))
	t.want = "Failed DeadlineExceeded, 1 deleted"
	t.Cause = "the webhook inject.mesh.corp added the container mesh-proxy and changed the image of main; main exited 0, mesh-proxy ran on, and activeDeadlineSeconds (15) passed"
	t.Says = []string{"containers[mesh-proxy] added", "containers[main].image changed", "activeDeadlineSeconds"}
	t.Played = "the kubelet"
	p := s.awaitPlaced(t)
	t.FirstPod = p.Name
	s.kubelet(p, all(runs(0), runs(1)))
	s.pass(4 * time.Second)
	s.kubelet(p, ends(0, 0, "Completed", ""))
	s.awaitEnd(t)
	s.must(hooks.Delete(s.ctx, "mesh", metav1.DeleteOptions{}))
}

// inject answers an admission review: it adds a container, and takes images from a mirror.
func inject(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
		http.Error(w, fmt.Sprint("no review: ", err), http.StatusBadRequest)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{
		UID: review.Request.UID, Allowed: true, PatchType: new(admissionv1.PatchTypeJSONPatch),
		Patch: []byte(`[
			{"op":"replace","path":"/spec/containers/0/image","value":"mirror.corp/export:4"},
			{"op":"add","path":"/spec/containers/-","value":{"name":"mesh-proxy","image":"mirror.corp/mesh-proxy:1"}}
		]`),
	}
	review.Request = nil
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review) // the API server reports an answer that it does not understand
}
