package kubewire

import (
	"bytes"
	"encoding/json"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// sentJSON keeps those parts of a CronJob's JSON that are needed later (c.Sent), for example to send them back
// unchanged.
func (c *CronJob) sentJSON(data []byte) error {
	var parts struct {
		Metadata map[string]json.RawMessage `json:"metadata"`
		Spec     json.RawMessage            `json:"spec"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return fmt.Errorf("read CronJob %s/%s: %w", c.Namespace, c.Name, err)
	}
	delete(parts.Metadata, "managedFields")
	metadata, err := json.Marshal(parts.Metadata)
	if err != nil {
		return fmt.Errorf("read CronJob %s/%s: %w", c.Namespace, c.Name, err)
	}
	spec, err := inOrder(parts.Spec)
	if err != nil {
		return fmt.Errorf("read the spec of CronJob %s/%s: %w", c.Namespace, c.Name, err)
	}
	c.Sent = Sent{Metadata: metadata, Spec: spec, JSON: true}
	return nil
}

// inOrder returns the same JSON object with its fields sorted by name. Numbers stay as they were written.
func inOrder(data []byte) ([]byte, error) {
	if len(data) == 0 {
		return []byte("{}"), nil
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

func (c *CronJob) templateOfJSON() (t JobTemplate, err error) {
	var spec struct {
		JobTemplate struct {
			Metadata struct {
				Labels, Annotations map[string]string
			} `json:"metadata"`
			Spec json.RawMessage `json:"spec"`
		} `json:"jobTemplate"`
	}
	if err := json.Unmarshal(c.Sent.Spec, &spec); err != nil {
		return t, fmt.Errorf("read the jobTemplate of CronJob %s/%s: %w", c.Namespace, c.Name, err)
	}
	of := &spec.JobTemplate
	return JobTemplate{of.Metadata.Labels, of.Metadata.Annotations, of.Spec}, nil
}

// jsonBody returns a Job or CronJob as JSON, for a request. spec is JSON, and is used unchanged. metadata is either a
// value to encode or, as a []byte, JSON that is used unchanged.
func jsonBody(kind string, metadata any, spec []byte, status *batchv1.CronJobStatus) (Body, error) {
	if raw, is := metadata.([]byte); is {
		metadata = json.RawMessage(raw)
	}
	b, err := json.Marshal(struct {
		metav1.TypeMeta
		Metadata any                    `json:"metadata"`
		Spec     json.RawMessage        `json:"spec"`
		Status   *batchv1.CronJobStatus `json:"status,omitempty"`
	}{metav1.TypeMeta{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: kind}, metadata, spec, status})
	if err != nil {
		return Body{}, fmt.Errorf("encode a %s: %w", kind, err)
	}
	return Body{runtime.ContentTypeJSON, b}, nil
}
