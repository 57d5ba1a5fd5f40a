package finding

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

// TestTheReaderPublishesItsPart: what the administrator wrote stays; a new CA is written soon, and what somebody
// else changed, within a minute. A reader that started later is not written over, an earlier one is.
func TestTheReaderPublishesItsPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: Name}, Data: map[string]string{keyService: "a", "other": "b"},
		})
		ca := "first"
		publisher := func(pod string, authority func() ([]byte, error)) *Publisher {
			return &Publisher{
				Client: client, Namespace: Namespace, Name: Name, Pod: pod, Port: 10273, Started: time.Now(),
				Logger: slog.New(slog.DiscardHandler), Authority: authority,
			}
		}
		early := publisher("pod-1", func() ([]byte, error) { return []byte(ca), nil })
		go func() { _ = early.Run(t.Context()) }() // ends with the test
		data := func() map[string]string {
			found, err := client.CoreV1().ConfigMaps(Namespace).Get(t.Context(), Name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return found.Data
		}
		says := func(sentence, ca, pod string) {
			t.Helper()
			synctest.Wait()
			got := data()
			if got[keyCA] != ca || got[keyPod] != pod || got[keyPort] != "10273" || got[keyService] != "a" || got["other"] != "b" {
				t.Errorf("%s: %v", sentence, got)
			}
		}
		says("at the start", "first", "pod-1")
		ca = "second"
		time.Sleep(caEach)
		says("with a new CA", "second", "pod-1")
		changed := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: Name}, Data: data()}
		changed.Data[keyCA] = "forged"
		if _, err := client.CoreV1().ConfigMaps(Namespace).Update(t.Context(), changed, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(publishEach + caEach)
		says("what another wrote", "second", "pod-1")
		late := publisher("pod-2", func() ([]byte, error) { return []byte("third"), nil })
		go func() { _ = late.Run(t.Context()) }() // ends with the test
		says("by a later reader", "third", "pod-2")
		ca = "fourth"
		time.Sleep(publishEach + caEach)
		says("beside the earlier one", "third", "pod-2")
	})
}
