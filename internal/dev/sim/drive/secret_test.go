package drive_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/drive"
	"github.com/jobledger/jobledger/internal/dev/sim/kubelet"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
)

// TestAPINCannotBeGuessedFromTheLog: a PIN of four digits is in a Job's environment. An attacker has the log, its
// snapshot and the pods' metadata, and knows everything else about the Job. The attacker tries all ten thousand PINs,
// and no hash confirms one. With the log's key the PIN is found at once. That is the purpose of the key, and it proves
// that the search can find a PIN.
func TestAPINCannotBeGuessedFromTheLog(t *testing.T) {
	t.Parallel()
	const pin = "4711"
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo"},
		Spec: batchv1.JobSpec{
			ManagedBy: new(events.ManagedBy), Parallelism: new(int32(2)), Completions: new(int32(2)),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "main", Image: "sim", Env: []corev1.EnvVar{{Name: "PIN", Value: pin}}}},
			}},
		},
	}
	d, err := drive.New(drive.Config{
		Settings: events.DefaultSettings(), Snapshot: 5,
		World: world.Config{Kubelet: kubelet.Config{Schedule: upTo(1), Start: upTo(1), RunTime: upTo(5)}},
	}, job)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Settle(); err != nil {
		t.Fatal(err)
	}
	known := d.World.Server.List(apiserver.Jobs).Items[0].(*batchv1.Job)
	told := everythingTold(t, d, known)
	if !strings.Contains(told, "(redacted)") || !strings.Contains(told, events.TemplateAnnotation) {
		t.Fatal("what is looked through holds no template, or no pod's metadata")
	}
	if strings.Contains(told, `"`+pin+`"`) {
		t.Error("the value stands there as it is")
	}
	hashes := hashesIn(told)
	if found := guess(t, known, hashes, nil); found != "" {
		t.Errorf("the PIN is %s: a hash of the log or on a pod confirms it", found)
	}
	key := events.Key{1} // of the simulation
	if found := guess(t, known, hashes, key[:]); found != pin {
		t.Errorf("with the log's key the PIN is found to be %q, want %s: the search does not look for what is there", found, pin)
	}
}

// everythingTold returns the log in stored form and as text, its snapshot, and the metadata of the pods.
func everythingTold(t *testing.T, d *drive.Driver, job *batchv1.Job) string {
	t.Helper()
	var all strings.Builder
	for rec, err := range d.Log().Read(context.Background(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		stored, err := events.AppendRecord(nil, &rec)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s\n%x\n", stored, stored)
	}
	snapshot, ok, err := d.Log().LoadSnapshot(context.Background())
	if err != nil || !ok {
		t.Fatalf("there is no snapshot (%v)", err)
	}
	for _, s := range snapshot.Streams {
		fmt.Fprintf(&all, "%s\n%s\n%x\n", s.State, s.Names, s.State)
	}
	for _, pod := range d.World.Server.PodsOf(job.UID) {
		metadata, err := json.Marshal(pod.ObjectMeta)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(metadata)
	}
	return all.String()
}

// hashesIn returns the first 8 bytes of everything that may be a hash, as hexadecimal digits. everythingTold prints
// bytes in such digits, too.
func hashesIn(text string) map[string]bool {
	found := map[string]bool{}
	for _, run := range regexp.MustCompile(`[0-9a-f]{16,}`).FindAllString(text, -1) {
		for i := range len(run) - 15 {
			found[run[i:i+16]] = true
		}
	}
	return found
}

// guess tries every PIN in every form that could have been hashed, with every known key. It returns the PIN, or "" if
// no hash confirms one.
func guess(t *testing.T, job *batchv1.Job, hashes map[string]bool, key []byte) string {
	t.Helper()
	forms := append(templateForms(t, job), "4711")
	keys := [][]byte{nil} // an HMAC with no key, or one of zeros
	if key != nil {
		keys = append(keys, key)
	}
	for n := range 10_000 {
		pin := fmt.Sprintf("%04d", n)
		for _, form := range forms {
			for _, salt := range []string{"", "template\x00" + job.Namespace + "\x00"} {
				content := []byte(salt + strings.ReplaceAll(form, "4711", pin))
				plain := sha256.Sum256(content)
				if hashes[hex.EncodeToString(plain[:8])] {
					return pin
				}
				for _, k := range keys {
					h := hmac.New(sha256.New, k)
					h.Write(content)
					if hashes[hex.EncodeToString(h.Sum(nil)[:8])] {
						return pin
					}
				}
			}
		}
	}
	return ""
}

// templateForms returns the parts of the Job's pod template that may be hashed, without fields that the API server
// generated: the metadata that pods take over with the spec as the server sends it, in protobuf or JSON; the whole in
// JSON; and the part that has the PIN.
func templateForms(t *testing.T, job *batchv1.Job) []string {
	t.Helper()
	bare := job.Spec.Template.DeepCopy()
	for _, name := range []string{batchv1.ControllerUidLabel, batchv1.JobNameLabel, "controller-uid", "job-name"} {
		delete(bare.Labels, name)
	}
	sent, err := bare.Spec.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	forms := []string{"{}\x00" + string(sent)}
	for _, v := range []any{bare.Spec, bare, bare.Spec.Containers[0].Env} {
		form, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		forms = append(forms, "{}\x00"+string(form), string(form))
	}
	return forms
}
