package httpapi_test

import (
	"bytes"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/dev/sim/httpapi"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
)

const loaded = `apiVersion: v1
kind: Pod
metadata: {namespace: batch, name: p, uid: uid-p, annotations: {sim.jobledger.dev/on-patch: timeout-before webhook none}}
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {namespace: jobledger, name: ours, uid: uid-ours}
spec: {holderIdentity: a, renewTime: "2026-01-02T15:04:05.123456Z"}
`

// TestLoadedObjectsAreServed: loaded objects equal their YAML, calls meet the faults that the objects ask for, and each
// write is noted as it was requested, in both encodings.
func TestLoadedObjectsAreServed(t *testing.T) {
	for _, contentType := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		t.Run(contentType, func(t *testing.T) {
			var writes bytes.Buffer
			client, server := connect(t, httpapi.Config{World: world.New(world.Config{}), Writes: &writes}, contentType)
			if err := server.Load([]byte(loaded)); err != nil {
				t.Fatal(err)
			}
			ctx, pods, leases := t.Context(), client.CoreV1().Pods("batch"), client.CoordinationV1().Leases("jobledger")
			patch := []byte(`{"metadata": {"uid": "uid-p", "labels": {"a": "b"}}}`)
			for i, is := range []func(error) bool{
				func(err error) bool { return err != nil && strings.HasSuffix(err.Error(), "EOF") }, apierrors.IsForbidden, func(err error) bool { return err == nil },
			} {
				if _, err := pods.Patch(ctx, "p", types.StrategicMergePatchType, patch, metav1.PatchOptions{}); !is(err) {
					t.Errorf("patch %d: %v", i, err)
				}
			}
			lease, err := leases.Get(ctx, "ours", metav1.GetOptions{})
			if err != nil || lease.UID != "uid-ours" || lease.Spec.RenewTime.Nanosecond() != 123456000 {
				t.Fatalf("the Lease is %+v, %v", lease, err)
			}
			stale := lease.DeepCopy()
			lease.Spec.HolderIdentity = new("b")
			if lease, err = leases.Update(ctx, lease, metav1.UpdateOptions{}); err != nil || *lease.Spec.HolderIdentity != "b" {
				t.Errorf("the Lease is taken: %v", err)
			}
			if _, err := leases.Update(ctx, stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
				t.Errorf("the Lease is taken by who is late: %v", err)
			}
			preconditions := &metav1.Preconditions{UID: &lease.UID, ResourceVersion: &lease.ResourceVersion}
			if err := leases.Delete(ctx, "ours", metav1.DeleteOptions{Preconditions: preconditions}); err != nil {
				t.Error(err)
			}
			if found, err := leases.List(ctx, metav1.ListOptions{}); err != nil || len(found.Items) != 0 {
				t.Errorf("%d Leases, %v", len(found.Items), err)
			}
			made := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "theirs"}}
			if made, err = leases.Create(ctx, made, metav1.CreateOptions{}); err != nil || made.UID == "" {
				t.Errorf("a Lease is made: %v", err)
			}
			noted := ""
			server.Do(func(*world.World) { noted = writes.String() })
			lines := strings.Split(strings.TrimSpace(noted), "\n")
			want := []string{
				`PATCH /api/v1/namespaces/batch/pods/p {"metadata":{"uid":"uid-p","labels":{"a":"b"}}}`, `PATCH `, `PATCH `,
				`PUT /apis/coordination.k8s.io/v1/namespaces/jobledger/leases/ours {`, `PUT `,
				`DELETE /apis/coordination.k8s.io/v1/namespaces/jobledger/leases/ours {`, `POST /apis/coordination.k8s.io/v1/namespaces/jobledger/leases {`,
			}
			if len(lines) != len(want) {
				t.Fatalf("%d writes were noted, want %d:\n%s", len(lines), len(want), noted)
			}
			for i, line := range lines {
				if !strings.HasPrefix(line, want[i]) {
					t.Errorf("write %d is %s, want %s", i, line, want[i])
				}
			}
			if !strings.Contains(lines[3], `"holderIdentity":"b"`) || !strings.Contains(lines[5], `"preconditions":{"uid":"uid-ours","resourceVersion":"`) {
				t.Errorf("bodies are noted in JSON:\n%s", noted)
			}
		})
	}
}

func TestObjectsThatAreRefused(t *testing.T) {
	_, server := connect(t, httpapi.Config{World: world.New(world.Config{})}, "application/json")
	for text, want := range map[string]string{
		"apiVersion: v1\nkind: Pod\nmetadata: {name: p, namspace: batch}":                                             `unknown field "metadata.namspace"`,
		loaded + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}":                                             "document 3: objects of type *v1.Secret are not modelled",
		"apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {sim.jobledger.dev/on-get: what}, namespace: a}": `there is no fault "what"`,
	} {
		if err := server.Load([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q was answered with %v, want %s", text, err, want)
		}
	}
}

// TestAUserWithoutARole: such a user gets the version, and nothing else.
func TestAUserWithoutARole(t *testing.T) {
	client, _ := connect(t, httpapi.Config{World: world.New(world.Config{}), Forbid: true}, "application/json")
	if _, err := client.Discovery().ServerVersion(); err != nil {
		t.Error(err)
	}
	if _, err := client.BatchV1().Jobs("team").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a list: %v", err)
	}
	if _, err := client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a watch: %v", err)
	}
	if err := client.CoreV1().Pods("team").Delete(t.Context(), "p", metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a deletion: %v", err)
	}
}

// TestResourcesThatThereAreNot: requests for unknown resources are answered with "not found".
func TestResourcesThatThereAreNot(t *testing.T) {
	client, _ := connect(t, httpapi.Config{World: world.New(world.Config{})}, "application/json")
	if _, err := client.CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a watch of ConfigMaps: %v", err)
	}
}
