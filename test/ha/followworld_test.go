package ha

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/dev/port"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/deployed"
)

// newFollowWorld is a cluster, and that many controllers that follow each other and do not run yet.
func newFollowWorld(t *testing.T, n int, args ...string) *world {
	t.Helper()
	var listens, urls []string
	for range n {
		at, release, err := port.Hold()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := release(); err != nil {
				t.Error(err)
			}
		})
		listen := fmt.Sprintf("127.0.0.1:%d", at)
		listens, urls = append(listens, listen), append(urls, "https://"+listen)
	}
	return newFollowWorldAt(t, n, []net.IP{net.IPv4(127, 0, 0, 1)}, func(_ *world, i int, _ *controller.Config) (string, []string) {
		return listens[i], urls
	}, args...)
}

// newFollowWorldAt is newFollowWorld with certificates for these addresses. place changes how controller i is run, and
// returns the address at which it listens, and the URLs of all controllers as it sees them.
func newFollowWorldAt(
	t *testing.T, n int, hosts []net.IP, place func(w *world, i int, c *controller.Config) (listen string, urls []string), args ...string,
) *world {
	t.Helper()
	w := newCluster(t)
	cert, key := w.certificate(hosts)
	token := w.mayGetRecords()
	for i := range n {
		w.add(func(c *controller.Config) {
			listen, urls := place(w, i, c)
			c.Args = append([]string{
				"--follow", strings.Join(urls, ","), "--follow-ca", cert, "--follow-token-file", token, "--log-key-file", w.key,
				"--readers", "--metrics-bind-address", listen, "--metrics-tls-cert-file", cert, "--metrics-tls-key-file", key,
			}, args...)
		})
	}
	w.allow("metrics-authorize/clusterrole.yaml", w.namespace+"-asks", w.users...)
	return w
}

// allow gives users the rights of the ClusterRole in a file of deploy/, under another name.
func (w *world) allow(file, name string, users ...string) {
	w.Helper()
	objects, err := deployed.File(file)
	if err != nil {
		w.Fatal(err)
	}
	role := &rbacv1.ClusterRole{}
	for i := range objects {
		if objects[i].GetKind() != "ClusterRole" {
			continue
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(objects[i].Object, role); err != nil {
			w.Fatal(err)
		}
	}
	role.ObjectMeta = metav1.ObjectMeta{Name: name}
	if _, err := w.client.RbacV1().ClusterRoles().Create(w.ctx, role, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
	for _, user := range users {
		if err := w.cp.Bind(w.ctx, user, name); err != nil {
			w.Fatal(err)
		}
	}
}

// certificate writes a pair for these addresses.
func (w *world) certificate(hosts []net.IP) (certFile, keyFile string) {
	w.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		w.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: hosts, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		w.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		w.Fatal(err)
	}
	certFile, keyFile = filepath.Join(w.dir, "tls.crt"), filepath.Join(w.dir, "tls.key")
	for name, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			w.Fatal(err)
		}
	}
	return certFile, keyFile
}

// mayGetRecords writes the token of a ServiceAccount that may read records, by the right that the chart gives.
func (w *world) mayGetRecords() (file string) {
	w.Helper()
	const account = "follower"
	name := w.namespace + "-" + account
	accounts := w.client.CoreV1().ServiceAccounts(w.namespace)
	if _, err := accounts.Create(w.ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}},
		metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
	w.allow("overlays/ha/ha.yaml", name, "system:serviceaccount:"+w.namespace+":"+account)
	hours := int64(24 * 3600)
	request, err := accounts.CreateToken(w.ctx, account, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &hours},
	}, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	file = filepath.Join(w.dir, "token")
	if err := os.WriteFile(file, []byte(request.Status.Token+"\n"), 0o600); err != nil {
		w.Fatal(err)
	}
	return file
}

// shows waits until the metrics of a controller about the others are so.
func (w *world) shows(c *controller.Controller, metrics ...string) {
	w.Helper()
	err := patience.Until(w.ctx, 20*time.Millisecond, c.Ended(), func() (bool, error) {
		request, err := http.NewRequestWithContext(w.ctx, http.MethodGet, c.URL+"/metrics", nil)
		if err != nil {
			return false, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false, err
		}
		text, err := io.ReadAll(response.Body)
		for _, m := range metrics {
			if !strings.Contains(string(text), "\njobledger_replication_"+m+"\n") {
				return false, errors.Join(err, response.Body.Close())
			}
		}
		return true, errors.Join(err, response.Body.Close())
	})
	if err != nil {
		w.Fatalf("its metrics do not show %q: %v", metrics, err)
	}
}

// branch is an end of a log that was set aside.
type branch struct {
	of    int // index of the controller
	epoch uint64
	first events.Sequence
	path  string
}

// branches are those in the directories of all controllers.
func (w *world) branches() (all []branch) {
	w.Helper()
	for i, c := range w.controllers {
		found, err := filepath.Glob(filepath.Join(c.Log(), "branch-*"))
		if err != nil {
			w.Fatal(err)
		}
		for _, path := range found {
			b := branch{of: i, path: path}
			if _, err := fmt.Sscanf(filepath.Base(path), "branch-%d-%d", &b.epoch, &b.first); err != nil {
				w.Fatal(err)
			}
			all = append(all, b)
		}
	}
	return all
}

// began is a record with which the log went on in another epoch.
type began struct {
	*events.EpochChanged
	at, before store.Head // that record, and the one before it
}

// epochs gives all of the records that begin another epoch in a controller's log.
func (w *world) epochs(c *controller.Controller) (all []began) {
	w.Helper()
	log, err := open.Archive(c.Log())
	if err != nil {
		w.Fatal(err)
	}
	defer func() {
		if err := log.Close(); err != nil {
			w.Error(err)
		}
	}()
	before := store.Head{}
	for r, err := range log.Read(w.ctx, 0) {
		if err != nil {
			w.Fatal(err)
		}
		at := store.Head{Sequence: r.Sequence, Time: r.Time}
		if f, is := r.Facts.(*events.EpochChanged); is {
			all = append(all, began{f, at, before})
		}
		before = at
	}
	return all
}

// bounds holds each branch against the record that says what is missing: it begins behind the newest record that the
// new leader had, reaches at least as far as the Lease had said, and was written between the times of the record before
// and of the new epoch. A leader that was woken adds records as it ends; the last command that it sent has ended before.
func (w *world) bounds(c *controller.Controller) {
	w.Helper()
	named := map[events.Sequence]began{}
	for _, e := range w.epochs(c) {
		named[e.at.Sequence] = e
		w.Logf("epoch %d begins with record %d: %s", e.Epoch, e.at.Sequence, e.Lost)
		if e.Reason != events.EpochRestored || e.Lost.Witness != events.WitnessLease || e.Lost.Epoch >= e.Epoch {
			w.Errorf("record %d says %+v", e.at.Sequence, e.EpochChanged)
		}
	}
	for _, b := range w.branches() {
		e, is := named[b.first]
		if !is {
			w.Errorf("%s: no epoch of the log begins with record %d", b.path, b.first)
			continue
		}
		log, err := open.Archive(b.path)
		if err != nil {
			w.Fatal(err)
		}
		head := log.Head()
		var first, last events.Time
		ends := false // the leader was woken, and has seen that its Lease is lost
		for r, err := range log.Read(w.ctx, b.first) {
			if err != nil {
				w.Fatal(err)
			}
			_, decides := r.Facts.(*events.Decision)
			ends = ends || r.Kind == events.KindLeadershipChanged || decides && r.Time > e.at.Time
			if first == 0 {
				first = r.Time
			}
			if !ends && r.Kind != events.KindTimerFired {
				last = r.Time
			}
		}
		w.Logf("%s has records %d to %d, of %s to %s", filepath.Base(b.path), b.first, head.Sequence, first.Go(), head.Time.Go())
		if head.Sequence < b.first || e.Lost.Sequence >= b.first && head.Sequence < e.Lost.Sequence ||
			first < e.before.Time || last > e.at.Time || e.Lost.Epoch != b.epoch {
			w.Errorf("%s: records %d to %d, of %s to %s; the log says behind %s, before %s, and %s", b.path, b.first, head.Sequence,
				first.Go(), last.Go(), e.before.Time.Go(), e.at.Time.Go(), e.Lost)
		}
		if err := log.Close(); err != nil {
			w.Error(err)
		}
	}
}
