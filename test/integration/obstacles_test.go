package integration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/dev/patience"
)

// obstacle is a cause for which the API server refuses a command of a Job.
type obstacle struct {
	class, words string // of the refusal
	does         string // the refused command, as get shows it
	event        string // reason of the Kubernetes Event; empty: there is no Event
	set, lift    func(*world) error
	job          []option
}

// denied waits until the API server refuses a pod (want), or accepts it: an obstacle may need a moment to take effect.
func (w *world) denied(want bool, pod *corev1.Pod) error {
	ctx, cancel := patience.Context(w.t.Context())
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := w.client.CoreV1().Pods(w.namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil && !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) { // a policy answers Invalid
			return err
		}
		if (err != nil) == want {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), fmt.Errorf("a pod should be refused: %v, and: %w", want, err))
		}
	}
}

// probe returns a pod for a dry run: would the API server accept it?
func probe(change func(*corev1.PodSpec)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "probe-"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "any"}}},
	}
	if change != nil {
		change(&p.Spec)
	}
	return p
}

func ofPod(change func(*corev1.PodSpec)) []option {
	return []option{func(j *batchv1.Job) { change(&j.Spec.Template.Spec) }}
}

func quotaObstacle() obstacle {
	quota := func(pods string) *corev1.ResourceQuota {
		return &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Name: "small"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse(pods)}},
		}
	}
	return obstacle{
		class: "Quota", words: "exceeded quota: small", does: "create pod", event: "FailedCreate",
		set: func(w *world) error {
			_, err := w.client.CoreV1().ResourceQuotas(w.namespace).Create(w.t.Context(), quota("0"), metav1.CreateOptions{})
			w.eventually("the quota is known", func() (bool, error) {
				q, err := w.client.CoreV1().ResourceQuotas(w.namespace).Get(w.t.Context(), "small", metav1.GetOptions{})
				return err == nil && len(q.Status.Hard) > 0, err
			})
			return err
		},
		lift: func(w *world) error {
			_, err := w.client.CoreV1().ResourceQuotas(w.namespace).Update(w.t.Context(), quota("10"), metav1.UpdateOptions{})
			return errors.Join(err, w.denied(false, probe(nil)))
		},
	}
}

func policyObstacle() obstacle {
	return obstacle{
		class: "Forbidden", words: "not on a Saturday", does: "create pod", event: "FailedCreate",
		set: func(w *world) error {
			api := w.client.AdmissionregistrationV1()
			_, err := api.ValidatingAdmissionPolicies().Create(w.t.Context(), &admissionv1.ValidatingAdmissionPolicy{
				ObjectMeta: metav1.ObjectMeta{Name: w.namespace},
				Spec: admissionv1.ValidatingAdmissionPolicySpec{
					MatchConstraints: &admissionv1.MatchResources{
						NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: w.namespace}},
						ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
							Operations: []admissionv1.OperationType{admissionv1.Create},
							Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
						}}},
					},
					Validations: []admissionv1.Validation{{Expression: "false", Message: "not on a Saturday"}},
				},
			}, metav1.CreateOptions{})
			if err != nil {
				return err
			}
			_, err = api.ValidatingAdmissionPolicyBindings().Create(w.t.Context(), &admissionv1.ValidatingAdmissionPolicyBinding{
				ObjectMeta: metav1.ObjectMeta{Name: w.namespace},
				Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
					PolicyName: w.namespace, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
				},
			}, metav1.CreateOptions{})
			return errors.Join(err, w.denied(true, probe(nil)))
		},
		lift: func(w *world) error {
			api := w.client.AdmissionregistrationV1()
			return errors.Join(
				api.ValidatingAdmissionPolicyBindings().Delete(w.t.Context(), w.namespace, metav1.DeleteOptions{}),
				api.ValidatingAdmissionPolicies().Delete(w.t.Context(), w.namespace, metav1.DeleteOptions{}),
				w.denied(false, probe(nil)))
		},
	}
}

// rightsObstacle takes a right from the controller.
func rightsObstacle(what, verb, does, event string) obstacle {
	var had []rbacv1.PolicyRule
	change := func(w *world, to func(*rbacv1.Role)) error {
		role, err := w.client.RbacV1().Roles(w.namespace).Get(w.t.Context(), w.namespace, metav1.GetOptions{})
		if err != nil {
			return err
		}
		to(role)
		_, err = w.client.RbacV1().Roles(w.namespace).Update(w.t.Context(), role, metav1.UpdateOptions{})
		return err
	}
	return obstacle{
		class: "Forbidden", words: "cannot " + verb + " resource", does: does, event: event,
		set: func(w *world) error {
			return change(w, func(r *rbacv1.Role) {
				had = r.DeepCopy().Rules
				for i := range r.Rules {
					if slices.Contains(r.Rules[i].Resources, what) {
						r.Rules[i].Verbs = slices.DeleteFunc(r.Rules[i].Verbs, func(v string) bool { return v == verb })
						if len(r.Rules[i].Verbs) == 0 {
							r.Rules[i].Verbs = []string{"get"}
						}
					}
				}
			})
		},
		lift: func(w *world) error { return change(w, func(r *rbacv1.Role) { r.Rules = had }) },
	}
}

func limitObstacle() obstacle {
	asks := func(s *corev1.PodSpec) {
		s.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
	}
	return obstacle{
		class: "Forbidden", words: "maximum cpu usage per Container is 1", does: "create pod", event: "FailedCreate",
		job: ofPod(asks),
		set: func(w *world) error {
			_, err := w.client.CoreV1().LimitRanges(w.namespace).Create(w.t.Context(), &corev1.LimitRange{
				ObjectMeta: metav1.ObjectMeta{Name: "one"},
				Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
					Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
				}}},
			}, metav1.CreateOptions{})
			return errors.Join(err, w.denied(true, probe(asks)))
		},
		lift: func(w *world) error {
			return errors.Join(
				w.client.CoreV1().LimitRanges(w.namespace).Delete(w.t.Context(), "one", metav1.DeleteOptions{}),
				w.denied(false, probe(asks)))
		},
	}
}

func priorityObstacle() obstacle {
	asks := func(s *corev1.PodSpec) { s.PriorityClassName = "to-come" }
	return obstacle{
		class: "Forbidden", words: "no PriorityClass with name", does: "create pod", event: "FailedCreate",
		job: ofPod(asks),
		set: func(*world) error { return nil },
		lift: func(w *world) error {
			_, err := w.client.SchedulingV1().PriorityClasses().Create(w.t.Context(), &schedulingv1.PriorityClass{
				ObjectMeta: metav1.ObjectMeta{Name: "to-come"}, Value: 7,
			}, metav1.CreateOptions{})
			return errors.Join(err, w.denied(false, probe(asks)))
		},
	}
}
