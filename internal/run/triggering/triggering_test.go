package triggering

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/jobledger/jobledger/internal/run/lease"
	"github.com/jobledger/jobledger/internal/subject/trigger"
)

// scene is a cluster in a bubble with the CronJob batch/nightly, whose caller is alice.
type scene struct {
	*fake.Clientset
	cronJob *batchv1.CronJob
	lease   *coordinationv1.Lease // nil for none
}

func newScene() *scene {
	cron := map[string]string{lease.ScopeAnnotation: lease.Everywhere, lease.CronAnnotation: "true"}
	now := metav1.NowMicro()
	s := &scene{
		cronJob: &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "batch", Name: "nightly", UID: "uid-nightly"}},
		lease: &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: "jobledger", Name: "jobledger", Annotations: cron},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: new("ledger_1"), RenewTime: &now, LeaseDurationSeconds: new(int32(15))},
		},
	}
	return s
}

func (s *scene) begin() {
	objects := []runtime.Object{s.cronJob}
	if s.lease != nil {
		objects = append(objects, s.lease)
	}
	s.Clientset = fake.NewClientset(objects...)
	s.PrependReactor("create", "selfsubjectreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &authenticationv1.SelfSubjectReview{Status: authenticationv1.SelfSubjectReviewStatus{
			UserInfo: authenticationv1.UserInfo{Username: "alice"},
		}}, nil
	})
}

func (s *scene) config() Config {
	return Config{
		Client: s, Namespace: "batch", Name: "nightly", Now: time.Now,
	}
}

// patches are those that were sent.
func (s *scene) patches() (sent []clienttesting.PatchActionImpl) {
	for _, action := range s.Actions() {
		if patch, ok := action.(clienttesting.PatchActionImpl); ok {
			sent = append(sent, patch)
		}
	}
	return sent
}

// TestOnePatchAsks: one patch, with the UID as a precondition, our field manager, and a value that can be read back.
func TestOnePatchAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.begin()
		asked, err := Run(t.Context(), s.config())
		if err != nil || asked.By != "alice" || asked.Holder != "ledger_1" || asked.Lease != "jobledger/jobledger" || asked.UID != "uid-nightly" {
			t.Fatalf("%+v, %v", asked, err)
		}
		again, err := Run(t.Context(), s.config())
		if err != nil || again.ID == asked.ID {
			t.Errorf("asked twice, with the IDs %s and %s, %v", asked.ID, again.ID, err)
		}
		sent := s.patches()
		if len(sent) != 2 || sent[0].PatchType != types.MergePatchType || sent[0].PatchOptions.FieldManager != trigger.Manager || sent[0].Subresource != "" {
			t.Fatalf("sent %+v", sent)
		}
		var patch struct {
			Metadata struct {
				UID         types.UID
				Annotations map[string]string
			}
		}
		decoder := json.NewDecoder(strings.NewReader(string(sent[0].Patch)))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&patch); err != nil || patch.Metadata.UID != "uid-nightly" || len(patch.Metadata.Annotations) != 1 {
			t.Errorf("the patch is %s, %v", sent[0].Patch, err)
		}
		got, err := trigger.Parse(patch.Metadata.Annotations[trigger.Annotation])
		if err != nil || !got.At.Equal(time.Now()) || got.ID != asked.ID || got.By != "alice" {
			t.Errorf("the value is read as %+v, %v", got, err)
		}
	})
}

// TestAskedOfWhoRunsIt: a Lease in the CronJob's own namespace is enough. The server may not know the user's name.
func TestAskedOfWhoRunsIt(t *testing.T) {
	for sentence, change := range map[string]func(*scene){
		"a Lease in kube-system":              func(s *scene) { s.lease.Namespace = "kube-system" },
		"a Lease elsewhere for its namespace": func(s *scene) { s.lease.Annotations[lease.ScopeAnnotation] = "batch" },
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScene()
			change(s)
			s.begin()
			if _, err := Run(t.Context(), s.config()); err != nil || len(s.patches()) != 1 {
				t.Errorf("%s: %v, sent %d patches", sentence, err, len(s.patches()))
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.begin()
		s.deny("create", "selfsubjectreviews")
		if asked, err := Run(t.Context(), s.config()); err != nil || asked.By != "" {
			t.Errorf("nobody is told who asks: %+v, %v", asked, err)
		}
	})
}

// deny has the server refuse requests.
func (s *scene) deny(verb, resource string) {
	s.PrependReactor(verb, resource, func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "jobledger", errors.New("no role"))
	})
}

// TestNothingIsAskedInVain: if no controller of ours would start the run, the error says so, and nothing is written.
func TestNothingIsAskedInVain(t *testing.T) {
	for _, row := range []struct {
		sentence string
		before   func(*scene)
		begun    func(*scene)
		want     string
	}{
		{"there is no CronJob", func(s *scene) { s.cronJob.Name = "other" }, nil, "read cronjob/nightly in namespace batch"},
		{"it is suspended", func(s *scene) { s.cronJob.Spec.Suspend = new(true) }, nil, "cronjob/nightly is suspended"},
		{"it is being deleted", func(s *scene) {
			s.cronJob.DeletionTimestamp = new(metav1.Now())
			s.cronJob.Finalizers = []string{"x/y"}
		}, nil, "cronjob/nightly is being deleted"},
		{"there is no Lease", func(s *scene) { s.lease = nil }, nil, "by the Lease jobledger/jobledger or kube-system/jobledger or batch/jobledger; where the built-in one does, 'kubectl create job NAME --from=cronjob/nightly -n batch'"},
		{"the Lease was given back", func(s *scene) { s.lease.Spec.HolderIdentity = new("") }, nil, "no controller of Jobledger runs the CronJobs of namespace batch"},
		{"the controller is of another namespace", func(s *scene) { s.lease.Annotations[lease.ScopeAnnotation] = "web" }, nil, "no controller of Jobledger"},
		{"a Lease of another tenant", func(s *scene) { s.lease.Namespace = "web" }, nil, "no controller of Jobledger"},
		{"a Lease of its tenant for all namespaces", func(s *scene) { s.lease.Namespace = "batch" }, nil, "no controller of Jobledger"},
		{"a Lease of its tenant, good for decades and not renewed", func(s *scene) {
			s.lease.Namespace, s.lease.Spec.LeaseDurationSeconds = "batch", new(int32(1<<31-1))
			s.lease.Annotations[lease.ScopeAnnotation], s.lease.Annotations[lease.LogIDAnnotation] = "batch", "0a1b"
		}, nil, "the Lease batch/jobledger is not renewed"},
		{"a Lease of its tenant, renewed in the year 2099", func(s *scene) {
			s.lease.Namespace, s.lease.Spec.RenewTime = "batch", new(metav1.NewMicroTime(time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)))
			s.lease.Annotations[lease.ScopeAnnotation], s.lease.Annotations[lease.LogIDAnnotation] = "batch", "0a1b"
		}, nil, "the Lease batch/jobledger is not renewed"},
		{"the built-in runs CronJobs", func(s *scene) { delete(s.lease.Annotations, lease.CronAnnotation) }, nil, "the controller ledger_1 does not run CronJobs, so the built-in controller does"},
		{"the Lease may not be read", nil, func(s *scene) { s.deny("get", "leases") }, "you may not read the Lease jobledger/jobledger or kube-system/jobledger or batch/jobledger (deploy/trigger/role.yaml"},
		{"the controller was killed", func(s *scene) { s.lease.Spec.RenewTime = new(metav1.NewMicroTime(time.Now().Add(-time.Minute))) }, nil, "does not run now: the Lease jobledger/jobledger is not renewed"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene()
				if row.before != nil {
					row.before(s)
				}
				s.begin()
				if row.begun != nil {
					row.begun(s)
				}
				if _, err := Run(t.Context(), s.config()); err == nil || !strings.Contains(err.Error(), row.want) {
					t.Errorf("the error is %v, want %q", err, row.want)
				}
				if sent := s.patches(); len(sent) > 0 {
					t.Errorf("sent %s", sent[0].Patch)
				}
			})
		})
	}
}

// TestALeaseThatWasLeftBehind: the controller was killed, and its successor has its Lease in the operator's other
// namespace.
func TestALeaseThatWasLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		next := s.lease.DeepCopy()
		s.lease.Spec.RenewTime = new(metav1.NewMicroTime(time.Now().Add(-time.Hour)))
		next.Namespace, next.Spec.HolderIdentity, next.Spec.RenewTime = "kube-system", new("ledger_2"), new(metav1.NewMicroTime(time.Now().Add(14*time.Second)))
		s.begin()
		if err := s.Tracker().Add(next); err != nil {
			t.Fatal(err)
		}
		if asked, err := Run(t.Context(), s.config()); err != nil || asked.Holder != "ledger_2" || len(s.patches()) != 1 {
			t.Errorf("%+v, %v, %d patches", asked, err, len(s.patches()))
		}
	})
}

// TestAClockThatDiffers: the caller's clock differs from the controller's. The caller waits for a renewal, and asks
// then.
func TestAClockThatDiffers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.lease.Spec.RenewTime = new(metav1.NewMicroTime(time.Now().Add(-time.Hour)))
		s.begin()
		renewed := make(chan error, 1)
		go func() { // ends after one renewal
			time.Sleep(2 * time.Second)
			l := s.lease.DeepCopy()
			l.Spec.RenewTime = new(metav1.NewMicroTime(time.Now().Add(-time.Hour)))
			_, err := s.CoordinationV1().Leases("jobledger").Update(t.Context(), l, metav1.UpdateOptions{})
			renewed <- err
		}()
		var notes []string
		config := s.config()
		config.Note = func(text string) { notes = append(notes, text) }
		_, err := Run(t.Context(), config)
		if failed := <-renewed; err != nil || failed != nil || len(s.patches()) != 1 || len(notes) != 1 {
			t.Errorf("%v, %v, %d patches, notes %q", err, failed, len(s.patches()), notes)
		}
	})
}
