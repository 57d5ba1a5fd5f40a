package apiserver

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Client makes API calls under one name (actor). The objects that it takes and returns are copies, which the caller may
// change.
type Client struct {
	// Faults returns the fault that a call gets; nil if no call gets one.
	Faults func(Call) Fault

	server *Server
	actor  string
	next   []Fault
}

// Client returns a client that makes calls under the name actor.
func (s *Server) Client(actor string) *Client { return &Client{server: s, actor: actor} }

// Actor returns the client's name.
func (c *Client) Actor() string { return c.actor }

// FailNext sets the faults of the next calls of this client, one for each call. After these calls, Faults chooses
// again. A zero Fault lets a call succeed.
func (c *Client) FailNext(faults ...Fault) { c.next = append(c.next, faults...) }

// Calls returns the log of calls from the i-th on, with their answers.
func (s *Server) Calls(from int) []Answered {
	if from >= len(s.calls) {
		return nil
	}
	return s.calls[from:]
}

func (c *Client) fault(call Call) Fault {
	if len(c.next) > 0 {
		f := c.next[0]
		c.next = c.next[1:]
		return f
	}
	if c.Faults == nil {
		return Fault{}
	}
	return c.Faults(call)
}

// perform makes one API call with the fault that it was given, and adds the call to the server's log of calls. effect
// does the call's work in the server.
func perform[T any](ctx context.Context, c *Client, call Call, effect func(request) (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err // ctx ended before the call was sent, so it has no effect
	}
	call.Actor = c.actor
	s, fault := c.server, c.fault(call)
	r := request{actor: c.actor, verb: call.Verb, subresource: call.Subresource}
	answer, err := none, fault.refusal(call)
	if err == nil {
		s.interfere(fault.Kind, call)
		answer, err = effect(r)
		if hidden := fault.hidden(call); hidden != nil {
			answer, err = none, hidden
		}
	}
	if fault.Kind == TimeoutLate {
		r.late = true
		life := s.lives
		s.clock.Schedule(s.clock.Now().Add(fault.Delay), "late "+call.String(), func() {
			if s.lives != life {
				return // the server was restored from a backup meanwhile, which drops late requests
			}
			_, err := effect(r)
			s.calls = append(s.calls, Answered{Call: call, Time: s.clock.Now(), Version: s.version, Err: err})
		})
	}
	s.calls = append(s.calls, Answered{Call: call, Time: s.clock.Now(), Version: s.version, Fault: fault, Err: err})
	return answer, err
}

// done turns an effect that returns no object into the form that perform needs.
func done(effect func(request) error) func(request) (struct{}, error) {
	return func(r request) (struct{}, error) { return struct{}{}, effect(r) }
}

// CreatePod creates a Pod and returns it as stored.
func (c *Client) CreatePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	pod = pod.DeepCopy()
	call := Call{Verb: "create", Kind: Pods, Namespace: pod.Namespace, Name: pod.Name}
	return perform(ctx, c, call, func(r request) (*corev1.Pod, error) { return c.server.createPod(r, pod) })
}

// DeletePod deletes a Pod with the grace period in its spec; uid and resourceVersion are preconditions unless empty.
func (c *Client) DeletePod(ctx context.Context, namespace, name string, uid types.UID, resourceVersion string) error {
	return c.Delete(ctx, Pods, namespace, name, DeleteOptions{UID: uid, ResourceVersion: resourceVersion})
}

// DeleteJobVersion deletes a Job in the foreground; uid and resourceVersion are preconditions.
func (c *Client) DeleteJobVersion(ctx context.Context, namespace, name string, uid types.UID, resourceVersion string) error {
	return c.Delete(ctx, Jobs, namespace, name, DeleteOptions{
		UID: uid, ResourceVersion: resourceVersion, Propagation: metav1.DeletePropagationForeground,
	})
}

// PatchPod applies a strategic merge patch. It returns the Pod as stored, or, if the patch removed its last finalizer
// and so the Pod, as patched.
func (c *Client) PatchPod(ctx context.Context, namespace, name string, patch []byte) (*corev1.Pod, error) {
	call := Call{Verb: "patch", Kind: Pods, Namespace: namespace, Name: name, UID: patchedUID(patch)}
	return perform(ctx, c, call, func(r request) (*corev1.Pod, error) { return c.server.patchPod(r, namespace, name, patch) })
}

// GetJob reads a Job from the server, not from a cache.
func (c *Client) GetJob(ctx context.Context, namespace, name string) (*batchv1.Job, error) {
	call := Call{Verb: "get", Kind: Jobs, Namespace: namespace, Name: name}
	return perform(ctx, c, call, func(request) (*batchv1.Job, error) {
		if job := c.server.Job(namespace, name); job != nil {
			return job, nil
		}
		return nil, apierrors.NewNotFound(Jobs.resource(), name)
	})
}

// FindPod returns the Pod with this name, from a list with the field selector metadata.name; it reads from the server,
// not from a cache. It returns NotFound if the list is empty.
func (c *Client) FindPod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	call := Call{Verb: "list", Kind: Pods, Namespace: namespace, Name: name}
	return perform(ctx, c, call, func(request) (*corev1.Pod, error) {
		if pod := c.server.Pod(namespace, name); pod != nil {
			return pod, nil
		}
		return nil, apierrors.NewNotFound(Pods.resource(), name)
	})
}

// CreateJob creates a Job and returns it as stored.
func (c *Client) CreateJob(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	job = job.DeepCopy()
	call := Call{Verb: "create", Kind: Jobs, Namespace: job.Namespace, Name: job.Name}
	return perform(ctx, c, call, func(r request) (*batchv1.Job, error) { return c.server.createJob(r, job) })
}

// UpdateJob replaces a Job's metadata and spec; its resource version must be the stored one.
func (c *Client) UpdateJob(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	job = job.DeepCopy()
	call := Call{Verb: "update", Kind: Jobs, Namespace: job.Namespace, Name: job.Name, UID: job.UID}
	return perform(ctx, c, call, func(r request) (*batchv1.Job, error) { return c.server.updateJob(r, job) })
}

// UpdateJobStatus replaces a Job's status (PUT jobs/status); its resource version must be the stored one.
func (c *Client) UpdateJobStatus(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	job = job.DeepCopy()
	call := Call{Verb: "update", Subresource: "status", Kind: Jobs, Namespace: job.Namespace, Name: job.Name, UID: job.UID}
	return perform(ctx, c, call, func(r request) (*batchv1.Job, error) { return c.server.updateJobStatus(r, job) })
}

// DeleteJob deletes a Job with the given propagation; uid is a precondition unless empty.
func (c *Client) DeleteJob(ctx context.Context, namespace, name string, uid types.UID, policy metav1.DeletionPropagation) error {
	return c.Delete(ctx, Jobs, namespace, name, DeleteOptions{UID: uid, Propagation: policy})
}

// Delete deletes an object of any kind except namespaces. Without a propagation policy, the pods of a Job become
// orphans (C-011).
func (c *Client) Delete(ctx context.Context, k Kind, namespace, name string, opts DeleteOptions) error {
	if k == Jobs && opts.Propagation == "" {
		opts.Propagation = metav1.DeletePropagationOrphan
	}
	call := Call{Verb: "delete", Kind: k, Namespace: namespace, Name: name, UID: opts.UID}
	_, err := perform(ctx, c, call, done(func(r request) error { return c.server.delete(r, k, Key{namespace, name}, opts) }))
	return err
}

// CreateNamespace creates a namespace.
func (c *Client) CreateNamespace(ctx context.Context, name string) (*corev1.Namespace, error) {
	call := Call{Verb: "create", Kind: Namespaces, Name: name}
	return perform(ctx, c, call, func(request) (*corev1.Namespace, error) { return c.server.createNamespace(c.actor, name) })
}

// DeleteNamespace begins the deletion of a namespace; see [NamespaceController].
func (c *Client) DeleteNamespace(ctx context.Context, name string) error {
	call := Call{Verb: "delete", Kind: Namespaces, Name: name}
	_, err := perform(ctx, c, call, done(func(request) error { return c.server.deleteNamespace(c.actor, name) }))
	return err
}

// BindPod puts a Pod on a node, as a scheduler does.
func (c *Client) BindPod(ctx context.Context, namespace, name string, uid types.UID, node string) error {
	call := Call{Verb: "create", Subresource: "binding", Kind: Pods, Namespace: namespace, Name: name, UID: uid}
	_, err := perform(ctx, c, call, done(func(r request) error { return c.server.bindPod(r, namespace, name, uid, node) }))
	return err
}

// UpdatePodStatus edits a Pod's status, as a kubelet does.
func (c *Client) UpdatePodStatus(ctx context.Context, namespace, name string, uid types.UID, change func(*corev1.PodStatus)) error {
	call := Call{Verb: "patch", Subresource: "status", Kind: Pods, Namespace: namespace, Name: name, UID: uid}
	_, err := perform(ctx, c, call, done(func(r request) error { return c.server.updatePodStatus(r, namespace, name, uid, change) }))
	return err
}

func secondsOf(n int64) time.Duration { return time.Duration(n) * time.Second }
