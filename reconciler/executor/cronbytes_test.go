package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// planted is the value of a field that this program does not know, at each depth.
const planted = "of a later version"

// plant adds such a field, with that number, at the end of each message in an object of that type.
func plant(t *testing.T, object []byte, of reflect.Type, number protowire.Number, count *int) []byte {
	t.Helper()
	var out []byte
	for rest := object; len(rest) > 0; {
		field, kind, n := protowire.ConsumeField(rest)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		whole := rest[:n]
		rest = rest[n:]
		_, _, tag := protowire.ConsumeTag(whole)
		inner := messageAt(of, field)
		if kind != protowire.BytesType || inner == nil {
			out = append(out, whole...)
			continue
		}
		value, _ := protowire.ConsumeBytes(whole[tag:])
		out = protowire.AppendBytes(protowire.AppendTag(out, field, protowire.BytesType), plant(t, value, inner, number, count))
	}
	*count++
	return protowire.AppendString(protowire.AppendTag(out, number, protowire.BytesType), planted)
}

// messageAt returns the type of the message in that field. It returns nil if the field holds no message, or one that is
// not read field by field.
func messageAt(of reflect.Type, number protowire.Number) reflect.Type {
	for i := range of.NumField() {
		parts := strings.Split(of.Field(i).Tag.Get("protobuf"), ",")
		if len(parts) < 2 || parts[1] != strconv.Itoa(int(number)) {
			continue
		}
		in := of.Field(i).Type
		for in.Kind() == reflect.Pointer || in.Kind() == reflect.Slice {
			in = in.Elem()
		}
		if in.Kind() != reflect.Struct || in.NumField() == 0 || in.Field(0).Tag.Get("protobuf") == "" {
			return nil
		}
		return in
	}
	return nil
}

// deepCronJob has messages at many depths.
func deepCronJob() *batchv1.CronJob {
	c := testCronJob()
	spec := &c.Spec.JobTemplate.Spec
	spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: "DisruptionTarget", Status: "True"}},
	}}}
	pod := &spec.Template.Spec
	pod.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	pod.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "scratch", MountPath: "/scratch"}}
	pod.Containers[0].Env = []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}}}
	return c
}

// keeper is a server that keeps unknown fields.
type keeper struct {
	cronServer
	body kubewire.Body // of the newest write
}

func (s *keeper) CreateJob(_ context.Context, _ string, job kubewire.Body) (*kubewire.Job, error) {
	s.body = job
	return kubewire.Jobs.Read(job.Bytes)
}

func (s *keeper) UpdateCronJobStatus(_ context.Context, _, _ string, cronJob kubewire.Body) (*kubewire.CronJob, error) {
	s.body = cronJob
	return kubewire.CronJobs.Read(cronJob.Bytes)
}

func (s *keeper) GetCronJob(context.Context, string, string) (*kubewire.CronJob, error) {
	return nil, errors.New("not asked for")
}

func (s *keeper) GetRun(context.Context, string, string) (*kubewire.Job, error) {
	return nil, errors.New("not asked for")
}

func (s *keeper) DeleteRun(context.Context, string, string, types.UID) error { return nil }

// carriedOut carries out a command for a CronJob in the bytes that a server sent. It returns the body of the write.
func carriedOut(t *testing.T, sent []byte, command events.Command) kubewire.Body {
	t.Helper()
	cronJob, err := kubewire.CronJobs.Read(sent)
	if err != nil {
		t.Fatal(err)
	}
	s := &keeper{}
	r := cronWorld(t, &s.cronServer, command, func(c *Config) {
		c.Crons = s
		c.Objects.KeepCronJob(cronJob)
	})
	if r.Ended.Ending != events.Done {
		t.Fatalf("it ended %s: %s", r.Ended.Ending, r.Evidence.Sentence)
	}
	return s.body
}

var runs = map[string]events.Command{
	"of a due time": &events.CreateJob{Name: "nightly-1", Due: 1, Template: cronTemplate},
	"of a trigger":  &events.CreateJob{Name: "nightly-1", Template: cronTemplate, Trigger: "now"},
}

// C-156: a later server's jobTemplate has unknown fields anywhere in its spec. The Jobs made of it have them, and so do
// their pods.
func TestFieldsOfALaterServerReachTheJobOfACronJob(t *testing.T) {
	count := 0
	encoded := encodedOf(t, deepCronJob())
	object := plant(t, encoded, reflect.TypeFor[batchv1.CronJob](), 118, &count)
	if count < 15 {
		t.Fatalf("%d messages have the field, too few to prove anything", count)
	}
	template := fieldOf(t, fieldOf(t, fieldOf(t, object, 2), 5), 2)
	for name, command := range runs {
		t.Run(name, func(t *testing.T) {
			body := carriedOut(t, kubewire.Wrap("batch/v1", "CronJob", object), command)
			job := objectOf(t, body)
			if got := fieldOf(t, job, 2); !bytes.Equal(got, template) {
				t.Fatalf("the Job's spec has %d bytes, the template %d", len(got), len(template))
			}
			read, err := kubewire.Jobs.Read(body.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			pod, err := newPod(read, "nightly-1-x", identity, "", "", &events.CreatePod{Ordinal: 1, Index: events.NoIndex})
			if err != nil {
				t.Fatal(err)
			}
			made, err := pod.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if got, want := fieldOf(t, made, 2), fieldOf(t, fieldOf(t, template, 6), 2); !bytes.Equal(got, want) {
				t.Errorf("the pod's spec has %d bytes, that of the template %d", len(got), len(want))
			}
		})
	}
}

// TestAStatusOfACronJobKeepsFieldsOfALaterServer: a write of the status sends all of metadata and spec unchanged.
func TestAStatusOfACronJobKeepsFieldsOfALaterServer(t *testing.T) {
	count := 0
	whole := deepCronJob()
	whole.ManagedFields = nil
	object := plant(t, encodedOf(t, whole), reflect.TypeFor[batchv1.CronJob](), 118, &count)
	written := objectOf(t, carriedOut(t, kubewire.Wrap("batch/v1", "CronJob", object), &events.WriteCronStatus{Base: 10}))
	for part, number := range map[string]protowire.Number{"metadata": 1, "spec": 2} {
		if got, want := fieldOf(t, written, number), fieldOf(t, object, number); !bytes.Equal(got, want) {
			t.Errorf("%s has %d bytes, and the server sent %d", part, len(got), len(want))
		}
	}
}

// objectOf returns the object in a body in protobuf.
func objectOf(t *testing.T, b kubewire.Body) []byte {
	t.Helper()
	if b.Type != runtime.ContentTypeProtobuf {
		t.Fatalf("sent as %s", b.Type)
	}
	return fieldOf(t, bytes.TrimPrefix(b.Bytes, []byte("k8s\x00")), 2)
}

// TestJSONOfALaterServerReachesTheJobOfACronJob: the same with a server that speaks only JSON.
func TestJSONOfALaterServerReachesTheJobOfACronJob(t *testing.T) {
	whole := deepCronJob()
	whole.APIVersion, whole.Kind = "batch/v1", "CronJob"
	text, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	object := decodedJSON(t, kubewire.Body{Type: runtime.ContentTypeJSON, Bytes: text})
	if n := plantJSON(object); n < 15 {
		t.Fatalf("%d objects have the field, too few to prove anything", n)
	}
	sent, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	want := at(object, "spec", "jobTemplate", "spec")
	for name, command := range runs {
		t.Run(name, func(t *testing.T) {
			if got := at(decodedJSON(t, carriedOut(t, sent, command)), "spec"); !reflect.DeepEqual(got, want) {
				t.Errorf("the Job's spec is\n%v\nand the template's\n%v", got, want)
			}
		})
	}
	written := decodedJSON(t, carriedOut(t, sent, &events.WriteCronStatus{Base: 10}))
	delete(at(object, "metadata").(map[string]any), "managedFields")
	for _, part := range []string{"metadata", "spec"} {
		if got := at(written, part); !reflect.DeepEqual(got, at(object, part)) {
			t.Errorf("with the status is written the %s\n%v\nand the server sent\n%v", part, got, at(object, part))
		}
	}
}

// plantJSON puts an unknown field into each object, except into the user's maps (labels and the like).
func plantJSON(v any) (n int) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			n += plantJSON(e)
		}
	case map[string]any:
		for name, e := range v {
			if name != "labels" && name != "annotations" && name != "matchLabels" {
				n += plantJSON(e)
			}
		}
		v["laterField"] = json.Number("9007199254740993")
		n++
	}
	return n
}

func at(v any, names ...string) any {
	for _, name := range names {
		v = v.(map[string]any)[name]
	}
	return v
}

func decodedJSON(t *testing.T, b kubewire.Body) (v any) {
	t.Helper()
	if b.Type != runtime.ContentTypeJSON {
		t.Fatalf("sent as %s", b.Type)
	}
	d := json.NewDecoder(bytes.NewReader(b.Bytes))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}
