package observation

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

// Labels that the API server adds to the pod template of a Job without manualSelector (J-181). They differ between Jobs
// that are otherwise equal, so hashes and stored templates omit them.
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

// maxTemplate bounds the stored redacted templates. Of a larger template only the hash and the size are stored.
const maxTemplate = 64 << 10

// specOf returns the content of a Job's spec that decisions read, named by its hash, and the redacted pod template as
// JSON. Jobs of one namespace that differ only in generated values have the same content. Jobs of two namespaces never
// have, so that the log of one namespace reveals nothing about another.
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

// takePolicies sets the selector and the two policies, as JSON, and their hash. It omits a generated selector, which
// contains the Job's UID.
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

// takeScheduling sets the fields that come from the Job's spec.scheduling.
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

// specSeen is the known spec of a Job.
type specSeen struct {
	sent []byte // as the server sent it
	*specContent
}

// specContent is computed from a spec. Jobs of one namespace whose specs differ only in generated values share it.
type specContent struct {
	recorded *events.JobSpec
	template []byte // redacted; nil when too large to store
	size     int    // bytes of the whole redacted template
	podRouting

	admitted comparison // result for the last pod that was compared with the template
}

// specLocked returns the spec of a Job. It decodes the spec only when it has changed.
func (r *jobs) specLocked(known *knownJob, job *kubewire.Job) (*specSeen, error) {
	if known.spec != nil && bytes.Equal(known.spec.sent, job.Spec) {
		return known.spec, nil
	}
	known.print = 0 // the template may be another one
	return r.feed.specOf(job)
}

// specOf returns the content of a Job's spec, from the cache if possible.
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

// wholeJob returns the Job with its whole spec, without fields that this program does not know.
func wholeJob(job *kubewire.Job) (*batchv1.Job, error) {
	spec, err := job.WholeSpec()
	if err != nil {
		return nil, err
	}
	return &batchv1.Job{ObjectMeta: job.ObjectMeta, Spec: *spec}, nil
}

// textHash names texts of a namespace that the log stores unredacted. So it needs no key, and a change of the key does
// not change it. Neither texts nor namespace contain a zero byte.
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

// TemplateHash returns a function that hashes a Job's pod template with the key, without generated labels: 32
// hexadecimal digits. It hashes the whole template, not the redacted one. The executor compares the hash, so that pods
// are made only from the template that was decided on.
func TemplateHash(key events.Key) func(*kubewire.Job) (string, error) {
	return func(job *kubewire.Job) (string, error) {
		whole, err := wholeJob(job)
		if err != nil {
			return "", err
		}
		return templateHash(whole, job, key)
	}
}

// templateHash hashes the template's metadata that pods take over, and its spec as the server sent it, from which pods
// are made. So it includes fields that this program does not know, and does not change when a later program knows them.
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

// metadataTaken is the part of a template's metadata that pods or Jobs take over. Its JSON has sorted map keys.
type metadataTaken struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Finalizers  []string          `json:"finalizers,omitempty"`
}

// normalised returns the template without generated labels and without the metadata that pods do not take over (J-061).
// It shares memory with the Job's.
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

// generatedSelector reports whether the selector is the one that the API server generates: the Job's UID under one
// label. Servers before 1.27 used the label's old name; such a selector is stored like a user's.
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
