package controller

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// TestAPodIsBelievedWhereTheKeyIsLost: a pod with a create that the log did not decide shows that records are lost. That
// no seal can be checked does not matter as long as the key is not the one of the last run.
func TestAPodIsBelievedWhereTheKeyIsLost(t *testing.T) {
	dir := t.TempDir()
	log, err := boltlog.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	if _, err := joblog.Write(log, joblog.Busy(500)); err != nil {
		t.Fatal(err)
	}
	key, _, err := log.Key()
	if err != nil {
		t.Fatal(err)
	}
	world, err := loop.Recover(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	const lostKey = "0badcafe"
	id, known := log.Identity(), decidedCreate(t, log)
	unknown := "00000000-0000-4000-8000-000000000000/1"
	for _, row := range []struct {
		sentence, log string
		epoch         uint64
		create, key   string // key: that the last run knew
		lost          bool
	}{
		{"a create that the log does not have", id.LogID, id.Epoch, unknown, lostKey, true},
		{"one that it has", id.LogID, id.Epoch, known, lostKey, false},
		{"one of another log", strings.Repeat("cd", 16), id.Epoch, unknown, lostKey, false},
		{"one of a later epoch, which anybody may name", id.LogID, id.Epoch + 1, unknown, lostKey, false},
		{"the key is the one of the last run", id.LogID, id.Epoch, unknown, key.ID(), false},
		{"no run has known a key", id.LogID, id.Epoch, unknown, "", false},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Name: "pod", Namespace: "default", UID: "pod", Annotations: map[string]string{
				events.CommandAnnotation: fmt.Sprintf("%s.%d/%s", row.log, row.epoch, row.create), events.SealAnnotation: "of the key that is lost",
			},
		}}
		world.Key = row.key
		c := &controller{config: &Config{Log: dir}, cluster: &Cluster{Client: fake.NewClientset(pod)}, standing: standing{key: key}}
		err := c.provenByPods(t.Context(), log, world)
		var lost *loop.LossError
		if errors.As(err, &lost) != row.lost || !row.lost && err != nil {
			t.Errorf("%s: %v, want it refused: %t", row.sentence, err, row.lost)
		}
		if row.lost && !strings.Contains(err.Error(), fmt.Sprintf("--%s=%d", EpochFlag, id.Epoch+1)) {
			t.Errorf("%s: %v does not name the flag", row.sentence, err)
		}
	}
}

// decidedCreate is a create that the log decided, as JOB/ORDINAL.
func decidedCreate(t *testing.T, log store.Log) (create string) {
	t.Helper()
	for rec, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if decided, is := rec.Facts.(*events.Decision); is {
			for _, c := range decided.Commands() {
				if made, is := c.(*events.CreatePod); is {
					create = fmt.Sprintf("%s/%d", rec.Stream.ID, made.Ordinal)
				}
			}
		}
	}
	return create
}
