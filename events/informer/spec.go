package informer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// Labels that the API server puts into the pod template of a Job without manualSelector (J-181). They differ between
// Jobs that are otherwise equal, so hashes and stored templates leave them out.
const (
	controllerUIDLabel       = batchv1.ControllerUidLabel
	jobNameLabel             = batchv1.JobNameLabel
	legacyControllerUIDLabel = "controller-uid"
	legacyJobNameLabel       = "job-name"
)

var generated = kubewire.Generated{
	Selector: controllerUIDLabel,
	Labels:   []string{controllerUIDLabel, jobNameLabel, legacyControllerUIDLabel, legacyJobNameLabel},
}

// maxTemplate bounds the redacted templates that are stored; of a larger one the hash and the size are.
const maxTemplate = 64 << 10

// specOf is the content of a Job's spec that decisions read, named by its hash, and the redacted pod template as JSON.
// Jobs of one namespace that differ only in what the API server generated for them have the same content. Jobs of two
// namespaces never have: they share nothing in the log, so that none tells what another namespace runs.
func specOf(job *batchv1.Job, read *kubewire.Job, key events.Key) (*events.JobSpec, []byte, error) {
	s := &job.Spec
	spec := &events.JobSpec{
		Parallelism:             s.Parallelism,
		Completions:             s.Completions,
		CompletionMode:          text(s.CompletionMode),
		BackoffLimit:            s.BackoffLimit,
		ActiveDeadlineSeconds:   s.ActiveDeadlineSeconds,
		Suspend:                 s.Suspend != nil && *s.Suspend,
		TTLSecondsAfterFinished: s.TTLSecondsAfterFinished,
		BackoffLimitPerIndex:    s.BackoffLimitPerIndex,
		MaxFailedIndexes:        s.MaxFailedIndexes,
		PodReplacementPolicy:    text(s.PodReplacementPolicy),
		RestartPolicy:           string(s.Template.Spec.RestartPolicy),
		ManualSelector:          manual(job),
		SchedulingGroup:         s.Template.Spec.SchedulingGroup != nil,
		Key:                     key.ID(),
	}
	var err error
	if spec.Template, err = templateHash(job, read, key); err != nil {
		return nil, nil, err
	}
	if err = takePolicies(spec, job); err != nil {
		return nil, nil, err
	}
	if err = takeScheduling(spec, read, key); err != nil {
		return nil, nil, err
	}
	template, err := json.Marshal(redacted(normalised(job)))
	if err != nil {
		return nil, nil, fmt.Errorf("encode redacted template of Job %s/%s: %w", job.Namespace, job.Name, err)
	}
	spec.Redacted = textHash(job.Namespace, string(template))
	content, err := json.Marshal(spec.Apart())
	if err != nil {
		return nil, nil, fmt.Errorf("hash spec of Job %s/%s: %w", job.Namespace, job.Name, err)
	}
	spec.Hash = key.Hash("spec", job.Namespace, content)
	return spec, template, nil
}

// takePolicies takes the selector and the two policies over, as JSON, and the hash of them; none where there are none.
// A selector that the API server generated is left out: it names the Job's UID.
func takePolicies(spec *events.JobSpec, job *batchv1.Job) (err error) {
	s := &job.Spec
	if !generatedSelector(s.Selector, job.UID) {
		if spec.Selector, err = jsonOf(s.Selector); err != nil {
			return fmt.Errorf("encode selector of Job %s/%s: %w", job.Namespace, job.Name, err)
		}
	}
	if s.PodFailurePolicy != nil {
		if spec.PodFailurePolicy, err = jsonOf(s.PodFailurePolicy); err != nil {
			return fmt.Errorf("encode podFailurePolicy of Job %s/%s: %w", job.Namespace, job.Name, err)
		}
	}
	if s.SuccessPolicy != nil {
		if spec.SuccessPolicy, err = jsonOf(s.SuccessPolicy); err != nil {
			return fmt.Errorf("encode successPolicy of Job %s/%s: %w", job.Namespace, job.Name, err)
		}
	}
	if spec.Selector != "" || spec.PodFailurePolicy != "" || spec.SuccessPolicy != "" {
		spec.Policies = textHash(job.Namespace, spec.Selector, spec.PodFailurePolicy, spec.SuccessPolicy)
	}
	return nil
}

// takeScheduling gives a spec what the Job's spec.scheduling says.
func takeScheduling(spec *events.JobSpec, read *kubewire.Job, key events.Key) error {
	s, err := read.Scheduling()
	if s == nil || err != nil {
		return err
	}
	spec.Scheduling = key.Hash("scheduling", read.Namespace, s.Rest)
	spec.SchedulingPolicy, spec.MinCount = schedulingPolicy(s), s.MinCount
	return nil
}

func schedulingPolicy(s *kubewire.Scheduling) string {
	switch {
	case s.Gang:
		return events.PolicyGang
	case s.Basic:
		return events.PolicyBasic
	}
	return ""
}

// specSeen is what is known of a Job's spec.
type specSeen struct {
	sent []byte // as the server sent it
	*specContent
}

// specContent is what is made of a spec. Jobs of one namespace whose specs differ only in what the API server generated
// share it.
type specContent struct {
	recorded *events.JobSpec
	template []byte // redacted, as far as it is stored
	size     int    // of the whole redacted template
	podRouting

	admitted comparison // of the pod that was compared with the template last
}

// specLocked is what is told of the spec of a Job. It is read anew only when it has changed.
func (r *jobs) specLocked(known *knownJob, job *kubewire.Job) (*specSeen, error) {
	if known.spec != nil && bytes.Equal(known.spec.sent, job.Spec) {
		return known.spec, nil
	}
	known.print = 0 // another template, perhaps
	return r.feed.specOf(job)
}

// specOf is what is known of the spec of a Job.
func (feed *Feed) specOf(job *kubewire.Job) (*specSeen, error) {
	read := func() (*specContent, error) { return contentOf(job, feed.key) }
	var content *specContent
	var err error
	if shape, ok := job.Shape(&generated); ok {
		content, err = feed.specs.of(append(append(shape, 0), job.Namespace...), read)
	} else {
		content, err = read()
	}
	return &specSeen{job.Spec, content}, err
}

func contentOf(job *kubewire.Job, key events.Key) (*specContent, error) {
	whole, err := wholeJob(job)
	if err != nil {
		return nil, err
	}
	recorded, template, err := specOf(whole, job, key)
	if err != nil {
		return nil, err
	}
	routing, err := podRoutingOf(whole)
	return &specContent{recorded: recorded, template: stored(template), size: len(template), podRouting: routing}, err
}

// wholeJob is the Job with its whole spec, as far as it is known here.
func wholeJob(job *kubewire.Job) (*batchv1.Job, error) {
	spec, err := job.WholeSpec()
	if err != nil {
		return nil, err
	}
	return &batchv1.Job{ObjectMeta: job.ObjectMeta, Spec: *spec}, nil
}

// textHash names texts of a namespace that stand in the log as they are, so it needs no key, and stays the same with
// another one. None of the texts holds a zero byte, nor does a namespace.
func textHash(namespace string, texts ...string) string {
	size := len(namespace) + 1
	for _, text := range texts {
		size += len(text) + 1
	}
	all := append(append(make([]byte, 0, size), namespace...), 0)
	for _, text := range texts {
		all = append(append(all, text...), 0)
	}
	sum := sha256.Sum256(all)
	return hex.EncodeToString(sum[:16])
}

// TemplateHash names the content of a Job's pod template by a hash with that key, generated labels left out: 32
// hexadecimal digits. It is of the template as it is, not of the redacted one, so that pods are only made from the
// template that was decided on.
func TemplateHash(key events.Key) func(*kubewire.Job) (string, error) {
	return func(job *kubewire.Job) (string, error) {
		whole, err := wholeJob(job)
		if err != nil {
			return "", err
		}
		return templateHash(whole, job, key)
	}
}

// templateHash is of what pods take over of the template's metadata, and of its spec as the server sent it, which pods
// are made of. So it is of fields, too, that this program does not know, and stays the same when a later one knows
// them.
func templateHash(job *batchv1.Job, read *kubewire.Job, key events.Key) (string, error) {
	t := normalised(job)
	content, err := json.Marshal(metadataTaken{t.Labels, t.Annotations, t.Finalizers})
	if err != nil {
		return "", fmt.Errorf("hash template of Job %s/%s: %w", job.Namespace, job.Name, err)
	}
	sent, err := read.Template()
	if err != nil {
		return "", fmt.Errorf("hash template of Job %s/%s: %w", job.Namespace, job.Name, err)
	}
	return key.Hash("template", job.Namespace, append(append(content, 0), sent.Spec...)), nil
}

// metadataTaken is what is taken over of a template's metadata. In JSON the keys of its maps are sorted.
type metadataTaken struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Finalizers  []string          `json:"finalizers,omitempty"`
}

// normalised is the template without generated labels and without the metadata that pods do not take over (J-061). It
// shares its parts with the Job's.
func normalised(job *batchv1.Job) *corev1.PodTemplateSpec {
	t := &job.Spec.Template
	labels := t.Labels
	if !manual(job) {
		labels = maps.Clone(labels)
		for _, name := range generated.Labels {
			delete(labels, name)
		}
	}
	return &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: t.Annotations, Finalizers: t.Finalizers},
		Spec:       t.Spec,
	}
}

func manual(job *batchv1.Job) bool {
	return job.Spec.ManualSelector != nil && *job.Spec.ManualSelector
}

// generatedSelector reports whether the selector is the one the API server makes: the Job's UID under one label.
// Servers before 1.27 made it with the label's old name; that one is stored like a user's.
func generatedSelector(s *metav1.LabelSelector, uid types.UID) bool {
	return s != nil && len(s.MatchExpressions) == 0 && len(s.MatchLabels) == 1 &&
		s.MatchLabels[controllerUIDLabel] == string(uid)
}

func jsonOf(v any) (string, error) {
	data, err := json.Marshal(v)
	return string(data), err
}

func text[T ~string](s *T) string {
	if s == nil {
		return ""
	}
	return string(*s)
}
