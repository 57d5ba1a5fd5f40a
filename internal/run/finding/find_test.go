package finding

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/read/serve"
)

// find finds the reader as a user.
func (w *world) find(user *clientcmdapi.AuthInfo) (*serve.Reader, error) {
	ctx, cancel := patience.Context(w.t.Context())
	w.t.Cleanup(cancel)
	r, err := Find(ctx, Config{Loader: w.kubeconfig(user)})
	if err == nil {
		w.t.Cleanup(r.Close)
	}
	return r, err
}

// get asks the reader for a path.
func (w *world) get(r *serve.Reader, path string) string {
	w.t.Helper()
	ctx, cancel := patience.Context(w.t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.Base.JoinPath(path).String(), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: r.Transport}).Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// plugin is a credential plugin that gives a token.
func plugin(t *testing.T, token string) *clientcmdapi.AuthInfo {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plugin")
	const script = "#!/bin/sh\necho '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"TOKEN\"}}'\n"
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(script, "TOKEN", token)), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	return &clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{
		Command: path, APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
	}}
}

// TestTheReaderIsAskedAsTheUser: through a port-forward, and at an address. A token goes along, one of a plugin, too,
// and a client certificate. Many requests need one port-forward.
func TestTheReaderIsAskedAsTheUser(t *testing.T) {
	for _, row := range []struct {
		sentence string
		user     *clientcmdapi.AuthInfo
		want     string
	}{
		{"with a token", &clientcmdapi.AuthInfo{Token: "of-ann"}, "of-ann"},
		{"with the token of a plugin", plugin(t, "of-a-plugin"), "of-a-plugin"},
		{"with a client certificate", certificate(t, "ann"), "jobledger"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			w := newWorld(t)
			r, err := w.find(row.user)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 20 {
				path := "/v1/log/" + strconv.Itoa(i)
				if got := w.get(r, path); got != row.want+" at "+path {
					t.Fatalf("request %d: %q", i, got)
				}
			}
			if w.opened != 1 {
				t.Errorf("%d port-forwards were opened", w.opened)
			}
		})
		t.Run(row.sentence+", at an address below a path", func(t *testing.T) {
			w := newWorld(t)
			w.reader = w.pretend("localhost")
			w.set(func() {
				w.data = map[string]string{keyCA: string(w.reader.authority), keyAddress: "https://localhost:" + strconv.Itoa(w.reader.port) + "/ledger"}
			})
			r, err := w.find(row.user)
			if err != nil {
				t.Fatal(err)
			}
			if got := w.get(r, "v1/log"); got != row.want+" at /ledger/v1/log" {
				t.Fatalf("it answers %q", got)
			}
			if w.opened != 0 {
				t.Errorf("%d port-forwards were opened", w.opened)
			}
		})
	}
}

// TestNothingIsSentToAnother: a process with a certificate of another CA, or for another name, gets no request. The
// user is told why.
func TestNothingIsSentToAnother(t *testing.T) {
	w := newWorld(t)
	other := w.pretend("jobledger-reader.jobledger-reader.svc")
	named := w.pretend("example.org")
	for _, row := range []struct {
		sentence string
		port     int
		ca       []byte
		says     string
	}{
		{"of another CA", other.port, w.reader.authority, "has a certificate of another CA"},
		{"for another name", named.port, named.authority, "is not for jobledger-reader.jobledger-reader.svc"},
		{"one that no certificate vouches for", other.port, []byte("no PEM"), "has no certificate of a CA"},
	} {
		w.set(func() { w.data[keyPort], w.data[keyCA] = strconv.Itoa(row.port), string(row.ca) })
		if _, err := w.find(&clientcmdapi.AuthInfo{Token: "secret"}); err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v, want %q", row.sentence, err, row.says)
		}
	}
	if got := slices.Concat(other.asked(), named.asked(), w.reader.asked()); len(got) != 0 {
		t.Errorf("requests arrived, with %q", got)
	}
}

// TestAReaderThatStartsAgainIsFoundAgain: with another pod, another CA and another port.
func TestAReaderThatStartsAgainIsFoundAgain(t *testing.T) {
	w := newWorld(t)
	r, err := w.find(&clientcmdapi.AuthInfo{Token: "of-ann"})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.get(r, "/a"); got != "of-ann at /a" {
		t.Fatalf("it answers %q", got)
	}
	w.reader.close()
	next := w.pretend("jobledger-reader.jobledger-reader.svc")
	w.publish("pod-2", next)
	w.set(func() { delete(w.pods, "pod-1"); w.pods["pod-2"] = corev1.PodRunning })
	if got := w.get(r, "/b"); got != "of-ann at /b" {
		t.Errorf("the new one answers %q", got)
	}
	if got := next.asked(); len(got) != 1 {
		t.Errorf("the new one was asked %q", got)
	}
}

// TestErrorsSayWhatIsMissing has each way in which no reader is reached.
func TestErrorsSayWhatIsMissing(t *testing.T) {
	token := &clientcmdapi.AuthInfo{Token: "of-ann"}
	for _, row := range []struct {
		sentence string
		user     *clientcmdapi.AuthInfo
		change   func(*world)
		says     string
	}{
		{"no reader", token, func(w *world) { w.data = nil }, "has no reader: there is no ConfigMap jobledger-reader in namespace jobledger-reader"},
		{"no reader, for users with few rights", token, func(w *world) { w.refused[Name] = 403 }, "no reader is found in this cluster"},
		{"unknown user", token, func(w *world) { w.refused[Name] = 401 }, "does not know the user of the kubeconfig"},
		{"a reader that has published nothing", token, func(w *world) { w.data = map[string]string{keyService: "a"} }, "has not published yet"},
		{"a port that is none", token, func(w *world) { w.data[keyPort] = "1e9" }, `port: "1e9" is not a port`},
		{"a pod that is none", token, func(w *world) { w.data[keyPod] = "a/../b" }, "is not the name of a pod"},
		{"an address that is none", token, func(w *world) { w.data[keyAddress] = "http://a" }, `address: "http://a" is not an address`},
		{"no right to see the pod", token, func(w *world) { w.refused["pod-1"] = 403 }, "create rolebinding NAME --role jobledger-reader-forward"},
		{"no right to forward", token, func(w *world) { w.refused["portforward"] = 403 }, "create rolebinding NAME --role jobledger-reader-forward"},
		{"no pod any more", token, func(w *world) { delete(w.pods, "pod-1") }, "the pod of the reader, pod-1 in namespace jobledger-reader, is gone"},
		{"a pod that starts", token, func(w *world) { w.pods["pod-1"] = corev1.PodPending }, "is not ready for it: it is Pending"},
		{"nothing at the port", token, func(w *world) { w.reader.close() }, "the kubelet says: error forwarding port"},
		{"impersonation", &clientcmdapi.AuthInfo{Token: "a", Impersonate: "bob"}, nil, "impersonates another user"},
		{"a password", &clientcmdapi.AuthInfo{Username: "ann", Password: "b"}, nil, "has a user name and a password"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			w := newWorld(t)
			if row.change != nil {
				w.set(func() { row.change(w) })
			}
			_, err := w.find(row.user)
			if err == nil || !strings.Contains(err.Error(), row.says) {
				t.Errorf("%v, want %q", err, row.says)
			}
			if got := w.reader.asked(); len(got) != 0 {
				t.Errorf("the reader was asked by %q", got)
			}
		})
	}
	none := clientcmd.NewDefaultClientConfig(*clientcmdapi.NewConfig(), &clientcmd.ConfigOverrides{})
	if _, err := Find(context.Background(), Config{Loader: none}); !errors.Is(err, ErrNoKubeconfig) {
		t.Errorf("without a kubeconfig: %v", err)
	}
}
