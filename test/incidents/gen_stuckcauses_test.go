package incidents

import (
	"fmt"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/test/internal/causes"
)

var stuckCauses = []*stuckCause{
	{name: "quota", refused: true, prepare: (*situation).noRoom, lift: (*situation).room, did: "the quota team-data allows no pods",
		says: []string{`quota.*team-data`}, may: "quota refused"},
	{name: "podsecurity", refused: true, prepare: (*situation).restrict, lift: (*situation).unrestrict,
		did: "the namespace enforces the Pod Security Standard restricted", says: []string{`PodSecurity`}, may: "refused"},
	{name: "policy", refused: true, prepare: (*situation).policy, did: "a ValidatingAdmissionPolicy denies the pods",
		says: []string{`images must come from mirror.corp`}, may: "refused"},
	{name: "webhook", refused: true, prepare: (*situation).deadWebhook, lift: (*situation).noWebhook,
		did: "an admission webhook that must be asked cannot be called", says: []string{`webhook`}, may: "refused"},
	{name: "account", refused: true, options: []option{pods(func(p *corev1.PodSpec) { p.ServiceAccountName = "builder" })},
		lift: func(s *situation) {
			s.must2(s.as(tom).CoreV1().ServiceAccounts(s.name).Create(s.ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "builder"}}, metav1.CreateOptions{}))
		},
		did: "the ServiceAccount builder does not exist", says: []string{`service ?account.*builder`}, may: "refused"},
	{name: "class", refused: true, named: func(name string) option { return pods(func(p *corev1.PodSpec) { p.PriorityClassName = name }) },
		lift: func(s *situation) {
			s.must2(s.admin.SchedulingV1().PriorityClasses().Create(s.ctx, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: s.name}, Value: 7}, metav1.CreateOptions{}))
		},
		did: "the PriorityClass does not exist", says: []string{`PriorityClass.*team`}, may: "refused"},
	{name: "runtime", refused: true, named: func(name string) option { return pods(func(p *corev1.PodSpec) { p.RuntimeClassName = &name }) },
		lift: func(s *situation) {
			s.must2(s.admin.NodeV1().RuntimeClasses().Create(s.ctx, &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: s.name}, Handler: "runsc"}, metav1.CreateOptions{}))
		},
		did: "the RuntimeClass does not exist", says: []string{`RuntimeClass.*team`}, may: "refused"},

	{name: "selector", did: "no node has the label that the pod wants", says: []string{`nodes are available`}, may: "schedule taint",
		lift: func(s *situation) { s.node(s.nodeName("a"), s.name, nil) }},
	{name: "untolerated", did: "the only node of its pool has a taint that it does not tolerate", says: []string{`nodes are available`, `taint`},
		may: "schedule taint", prepare: func(s *situation) {
			s.node(s.nodeName("a"), s.name, func(n *corev1.Node) {
				n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "gpu", Value: "true", Effect: corev1.TaintEffectNoSchedule})
			})
		},
		lift: func(s *situation) {
			s.changeNode(tom, s.nodeName("a"), func(n *corev1.Node) { n.Spec.Taints = n.Spec.Taints[:1] })
		}},
	{name: "cpu", options: []option{pods(func(p *corev1.PodSpec) {
		p.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1M")}
	})}, did: "no node has a million processors", says: []string{`Insufficient cpu`}, may: "schedule taint"},
	{name: "claim", options: []option{pods(func(p *corev1.PodSpec) {
		p.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	})}, did: "the PersistentVolumeClaim data does not exist", says: []string{`persistentvolumeclaim "data" not found`}, may: "schedule taint"},
	{name: "gate", options: []option{pods(func(p *corev1.PodSpec) { p.SchedulingGates = []corev1.PodSchedulingGate{{Name: "corp.example/budget"}} })},
		did: "the pod has the scheduling gate corp.example/budget", says: []string{`corp\.example/budget`}, may: "gate schedule", lift: (*situation).openGate},

	stuckBy("pull", lifted),
	stuckBy("pulldenied", lifted),
	stuckBy("badname", nil),
	stuckBy("secret", lifted),
	stuckBy("configmap", lifted),
	stuckBy("createerror", lifted),
	stuckBy("volume", lifted),
	stuckBy("crashloop", nil, restartPolicy(corev1.RestartPolicyOnFailure)),

	{name: "sidecar", options: []option{beside("istio-proxy")}, did: "container main ended with 0, and istio-proxy runs on",
		says: []string{`main (had |itself )?ended with 0`}, exits: []int32{143}, kubelet: mainDoes, lift: (*situation).sidecarEnds},

	{name: "suspendmade", nopod: true, options: []option{suspends()}, did: "maria created the Job suspended", says: []string{`suspended`}, may: "suspended edit",
		lift: resumes(tom, "kubectl-patch")},
	{name: "suspendqueue", nopod: true, options: []option{suspends(), labelled("kueue.x-k8s.io/queue-name", "team-data")},
		did: "the Job is created suspended, and waits for a queue", says: []string{`suspended`}, may: "suspended edit", lift: resumes(queue, "kueue-job-controller")},
	{name: "noparallel", nopod: true, options: []option{spec(func(s *batchv1.JobSpec) { s.Parallelism = new(int32(0)) })}, did: "parallelism is 0",
		says: []string{`parallelism`}, may: "scale edit", lift: func(s *situation) {
			s.patch(tom, "kubectl-patch", s.truth, "spec.parallelism 0 -> 1", `{"spec":{"parallelism":1}}`)
		}},
}

const (
	queue = "system:serviceaccount:kueue-system:kueue-controller-manager"
	argo  = "system:serviceaccount:argocd:argocd-application-controller"
)

func lifted(*situation) {}

func pods(change func(*corev1.PodSpec)) option {
	return template(func(t *corev1.PodTemplateSpec) { change(&t.Spec) })
}

func suspends() option { return spec(func(s *batchv1.JobSpec) { s.Suspend = new(true) }) }

func labelled(key, value string) option {
	return func(j *batchv1.Job) { j.Labels[key] = value }
}

func resumes(user, manager string) func(*situation) {
	return func(s *situation) {
		s.patch(user, manager, s.truth, "spec.suspend true -> false", `{"spec":{"suspend":false}}`)
	}
}

// stuckBy returns a cause of the kubelet; its writes are played.
func stuckBy(name string, lift func(*situation), options ...option) *stuckCause {
	c := causes.Named(name)
	return &stuckCause{
		name: name, lift: lift, options: options, did: c.Did, says: c.Says, may: c.May, exits: c.Exits,
		kubelet: func(s *situation, p *corev1.Pod) { s.writes(c, p) },
	}
}

// beside adds a container.
func beside(name string) option {
	return pods(func(p *corev1.PodSpec) {
		p.Containers = append(p.Containers, corev1.Container{Name: name, Image: p.Containers[0].Image})
	})
}

// mainDoes: all containers start, and the first one succeeds.
func mainDoes(s *situation, p *corev1.Pod) {
	s.kubelet(p, all(runs(0), runs(1)))
	s.pass(time.Second)
	s.kubelet(p, ends(0, 0, "Completed", ""))
}

// sidecarEnds: the second container of the only pod ends.
func (s *situation) sidecarEnds() {
	v := s.await(s.truth, "a pod runs", func(v view) bool { return len(v.live()) > 0 })
	s.kubelet(v.live()[0], all(ends(1, 0, "Completed", ""), is(corev1.PodSucceeded)))
}

func (s *situation) noRoom() {
	s.must2(s.as(tom).CoreV1().ResourceQuotas(s.name).Create(s.ctx, &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "team-data"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
	}, metav1.CreateOptions{}))
	s.probe("the quota holds", true)
}

func (s *situation) room() {
	s.must2(s.as(tom).CoreV1().ResourceQuotas(s.name).Patch(s.ctx, "team-data", types.MergePatchType, []byte(`{"spec":{"hard":{"pods":"9"}}}`), metav1.PatchOptions{}))
}

const enforce = `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":%s}}}`

func (s *situation) restrict() {
	s.must2(s.as(tom).CoreV1().Namespaces().Patch(s.ctx, s.name, types.MergePatchType, fmt.Appendf(nil, enforce, `"restricted"`), metav1.PatchOptions{}))
	s.probe("the standard is enforced", true)
}

func (s *situation) unrestrict() {
	s.must2(s.as(tom).CoreV1().Namespaces().Patch(s.ctx, s.name, types.MergePatchType, fmt.Appendf(nil, enforce, `null`), metav1.PatchOptions{}))
}

// policy denies pods with images that are not from a mirror.
func (s *situation) policy() {
	policies, bindings := s.admin.AdmissionregistrationV1().ValidatingAdmissionPolicies(), s.admin.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	s.must2(policies.Create(s.ctx, &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: s.name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				NamespaceSelector: s.inThisNamespace(),
				ResourceRules:     []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: podCreates[0]}},
			},
			Validations: []admissionregistrationv1.Validation{{
				Expression: `object.spec.containers.all(c, c.image.startsWith("mirror.corp/"))`, Message: "images must come from mirror.corp",
			}},
		},
	}, metav1.CreateOptions{}))
	s.must2(bindings.Create(s.ctx, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: s.name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: s.name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}, metav1.CreateOptions{}))
	s.probe("the policy denies pods", true)
}

func (s *situation) deadWebhook() {
	s.must2(s.as(tom).AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(s.ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: s.name},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "pods.policy.corp", Rules: podCreates, NamespaceSelector: s.inThisNamespace(),
			FailurePolicy: new(admissionregistrationv1.Fail), SideEffects: new(admissionregistrationv1.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"}, TimeoutSeconds: new(int32(1)),
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				Service: &admissionregistrationv1.ServiceReference{Namespace: "policy", Name: "policy-webhook"},
			},
		}},
	}, metav1.CreateOptions{}))
	s.probe("the API server asks the webhook", true)
}

func (s *situation) noWebhook() {
	s.must(s.as(tom).AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(s.ctx, s.name, metav1.DeleteOptions{}))
}

// probe waits until pods are refused, or until they are accepted.
func (s *situation) probe(what string, refused bool) {
	s.eventually(what, func() bool {
		_, err := s.admin.CoreV1().Pods(s.name).Create(s.ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "probe"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "any"}}},
		}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return (err != nil) == refused
	})
}

func (s *situation) openGate() {
	v := s.await(s.truth, "a pod has a gate", func(v view) bool { return len(v.live()) > 0 })
	s.must2(s.as(tom).CoreV1().Pods(s.name).Patch(s.ctx, v.live()[0].Name, types.MergePatchType, []byte(`{"spec":{"schedulingGates":[]}}`), metav1.PatchOptions{}))
}
