package ha

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/port"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// newFollowWorld is a cluster, and that many controllers that follow each other and do not run yet.
func newFollowWorld(t *testing.T, n int, args ...string) *world {
	t.Helper()
	w := newCluster(t)
	cert, key := w.certificate()
	token := w.mayGetRecords()
	var addresses, urls []string
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
		address := fmt.Sprintf("127.0.0.1:%d", at)
		addresses, urls = append(addresses, address), append(urls, "https://"+address)
	}
	for _, address := range addresses {
		w.add(func(c *controller.Config) {
			c.Args = append([]string{
				"--follow", strings.Join(urls, ","), "--follow-ca", cert, "--follow-token-file", token, "--log-key-file", w.key,
				"--readers", "--metrics-bind-address", address, "--metrics-tls-cert-file", cert, "--metrics-tls-key-file", key,
			}, args...)
		})
	}
	for _, user := range w.users {
		if err := w.cp.Bind(w.ctx, user, "system:auth-delegator"); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// certificate writes a pair for 127.0.0.1.
func (w *world) certificate() (certFile, keyFile string) {
	w.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		w.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
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

// mayGetRecords writes the token of a ServiceAccount that may read records.
func (w *world) mayGetRecords() (file string) {
	w.Helper()
	const account = "follower"
	name := w.namespace + "-" + account
	accounts := w.client.CoreV1().ServiceAccounts(w.namespace)
	if _, err := accounts.Create(w.ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}},
		metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{
		{NonResourceURLs: []string{"/v1/"}, Verbs: []string{"get"}},
	}}
	if _, err := w.client.RbacV1().ClusterRoles().Create(w.ctx, role, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
	if err := w.cp.Bind(w.ctx, "system:serviceaccount:"+w.namespace+":"+account, name); err != nil {
		w.Fatal(err)
	}
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
