package integration

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/child"
	"github.com/jobledger/jobledger/test/internal/deployed"
)

// TestTheAPIServerDecidesWhoReadsTheLog: jobledger serve runs with exactly the rights that its help names. A user of
// one namespace reads it with a bearer token and with a client certificate. For another namespace he is refused, and
// the message names the missing right. Without an identity nothing can be read. When the controller has stopped, each
// answer says so, and a reader beside the log goes on.
func TestTheAPIServerDecidesWhoReadsTheLog(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	w := newWorld(t)
	cert, key, trusted := w.certificate()
	if err := w.cp.Bind(t.Context(), w.namespace, "system:auth-delegator"); err != nil {
		t.Fatal(err)
	}
	c := w.newController("", "--readers", "--metrics-bind-address=127.0.0.1:0", "--metrics-tls-cert-file="+cert,
		"--metrics-tls-key-file="+key)
	w.start(c)
	w.runToItsEnd("etl-orders")
	other, err := w.cp.CreateNamespace(t.Context(), "other")
	if err != nil {
		t.Fatal(err)
	}
	ann := w.namespace + "-ann" // the name in her certificate
	token := w.token("dev")
	w.mayListJobs(rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: w.namespace, Name: "dev"})
	w.mayListJobs(rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: ann})
	config, err := w.cp.UserConfig(ann)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(config.CertData, config.KeyData)
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := w.serveUser()
	files := []string{"--kubeconfig", kubeconfig, "--listen", "127.0.0.1:0", "--tls-cert-file", cert,
		"--tls-private-key-file", key}
	far := w.serve(append(files, "--server", c.URL)...)
	near := w.serve(append(files, "--log", c.Log())...)
	gives := w.metricsAddress(c.Output)
	copying := w.serve(append(files, "--controllers", gives, "--controllers-ca-file", cert,
		"--controllers-token-file", w.mayGetRecords("copies"), "--mirror", w.dir)...)

	byToken := reads{t: t, client: client(trusted), token: token}
	byCertificate := reads{t: t, client: client(trusted, pair)}
	nobody := reads{t: t, client: client(trusted)}
	forged := reads{t: t, client: client(trusted), token: token[:len(token)-8] + "AAAAAAAA"}
	job := "/v1/explain/" + w.namespace + "/etl-orders"
	for who, status := range map[reads]int{nobody: http.StatusUnauthorized, forged: http.StatusUnauthorized,
		byToken: http.StatusForbidden} {
		for _, address := range []string{"/v1/records", "/v1/head", job} {
			if got := who.get(gives + address); got.status != status || strings.Contains(got.body, "etl-orders") {
				t.Errorf("the controller answers %s with %d, want %d\n%s", address, got.status, status, got.body)
			}
		}
	}
	for _, at := range []string{far, near, copying} {
		for _, user := range []reads{byToken, byCertificate} {
			w.eventually("who may list Jobs reads their namespace", func() (bool, error) {
				return user.get(at+job).status == http.StatusOK, nil
			})
			for _, address := range []string{job, "/v1/jobs?namespace=" + w.namespace, "/job/" + w.namespace + "/etl-orders",
				"/?n=" + w.namespace} {
				got := user.get(at + address)
				if got.status != http.StatusOK || !strings.Contains(got.body, "etl-orders") ||
					!strings.Contains(got.note, "only records of namespace "+w.namespace) {
					t.Errorf("%s: %d, note %q\n%s", address, got.status, got.note, got.body)
				}
			}
			for address, where := range map[string]string{
				"/v1/jobs?namespace=" + other: "in namespace " + other, "/job/" + other + "/x": "in namespace " + other,
				"/v1/jobs": "in all namespaces", "/": "in all namespaces", "/find?q=etl": "in all namespaces",
			} {
				if got := user.get(at + address); got.status != http.StatusForbidden ||
					!strings.Contains(got.body, "may not list jobs (batch) "+where) || strings.Contains(got.body, "etl-orders") {
					t.Errorf("%s: %d\n%s", address, got.status, got.body)
				}
			}
		}
		for _, who := range []reads{nobody, forged} {
			for _, address := range []string{job, "/", "/v1/jobs?namespace=" + w.namespace, "/healthz"} {
				if got := who.get(at + address); got.status != http.StatusUnauthorized || strings.Contains(got.body, "etl-orders") {
					t.Errorf("%s without an identity: %d\n%s", address, got.status, got.body)
				}
			}
		}
	}
	w.stop(c)
	w.eventually("it is said that the controller has stopped", func() (bool, error) {
		got := byToken.get(far + job)
		return got.status == http.StatusServiceUnavailable && strings.Contains(got.body, "has not answered since 2") &&
			strings.Contains(got.body, "the newest record that is known is "), nil
	})
	w.eventually("the log is read without a controller", func() (bool, error) {
		return byToken.get(near+job).status == http.StatusOK, nil
	})
	w.eventually("it is said that no records are given", func() (bool, error) {
		for _, address := range []string{job, "/job/" + w.namespace + "/etl-orders"} {
			got := byToken.get(copying + address)
			if got.status != http.StatusOK || !strings.Contains(got.note+got.body, "has not answered since 2") ||
				!strings.Contains(got.note+got.body, "the newest record that is known is ") {
				return false, nil
			}
		}
		return true, nil
	})
	accounts := w.client.CoreV1().ServiceAccounts(w.namespace)
	if err := accounts.Delete(t.Context(), "dev", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.eventually("a token whose ServiceAccount is gone is nobody's", func() (bool, error) {
		return byToken.get(near+job).status == http.StatusUnauthorized, nil
	})
	if got := byCertificate.get(near + job); got.status != http.StatusOK {
		t.Errorf("the certificate is good still: %d\n%s", got.status, got.body)
	}
}

// runToItsEnd creates a Job and waits for its end.
func (w *world) runToItsEnd(name string) {
	w.t.Helper()
	w.create(newJob(name))
	w.eventually("the Job ends", func() (bool, error) {
		job, err := w.client.BatchV1().Jobs(w.namespace).Get(w.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		for _, c := range job.Status.Conditions {
			if c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed {
				return true, nil
			}
		}
		return false, nil
	})
}

// mayListJobs gives a subject the right to list Jobs in the namespace of the test.
func (w *world) mayListJobs(who rbacv1.Subject) {
	w.t.Helper()
	roles, bindings := w.client.RbacV1().Roles(w.namespace), w.client.RbacV1().RoleBindings(w.namespace)
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{GenerateName: "lists-"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"batch"}, Resources: []string{"jobs"}, Verbs: []string{"list"}},
	}}
	made, err := roles.Create(w.t.Context(), role, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "lists-"}, Subjects: []rbacv1.Subject{who},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: made.Name},
	}
	if _, err := bindings.Create(w.t.Context(), binding, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// readerRoles returns the rights of the reader of deploy/: in all namespaces, and in kube-system. They are exactly
// those that the help of serve names.
func (w *world) readerRoles() (everywhere, inKubeSystem []rbacv1.PolicyRule, own map[string][]rbacv1.PolicyRule) {
	w.t.Helper()
	own = map[string][]rbacv1.PolicyRule{}
	objects, err := deployed.File("overlays/reader/reader.yaml")
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range objects {
		var role rbacv1.ClusterRole
		kind := objects[i].GetKind()
		if kind != "ClusterRole" && kind != "Role" {
			continue
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(objects[i].Object, &role); err != nil {
			w.t.Fatal(err)
		}
		switch {
		case kind == "ClusterRole":
			everywhere = append(everywhere, role.Rules...)
		case role.Namespace == "kube-system":
			inKubeSystem = append(inKubeSystem, role.Rules...)
		case role.Namespace == "jobledger-reader":
			own[role.Name] = role.Rules
		default:
			w.t.Errorf("the reader has a role in the namespace %s", role.Namespace)
		}
	}
	published := func(verbs ...string) []rbacv1.PolicyRule {
		return []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"},
			ResourceNames: []string{"jobledger-reader"}, Verbs: verbs}}
	}
	if want := map[string][]rbacv1.PolicyRule{
		"jobledger-reader": published("get", "patch"), "jobledger-reader-find": published("get"),
		"jobledger-reader-forward": {
			{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}},
			{APIGroups: []string{""}, Resources: []string{"pods/portforward"}, Verbs: []string{"create"}},
		},
	}; !reflect.DeepEqual(own, want) {
		w.t.Errorf("the Roles of the reader's namespace are %v", own)
	}
	create, get := []string{"create"}, []string{"get"}
	if want := []rbacv1.PolicyRule{
		{APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"tokenreviews"}, Verbs: create},
		{APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"subjectaccessreviews"}, Verbs: create},
		{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: get},
		{NonResourceURLs: []string{"/v1/"}, Verbs: get},
	}; !reflect.DeepEqual(everywhere, want) {
		w.t.Errorf("the reader may %v everywhere", everywhere)
	}
	if want := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"},
		ResourceNames: []string{"extension-apiserver-authentication"}, Verbs: get}}; !reflect.DeepEqual(inKubeSystem, want) {
		w.t.Errorf("the reader may %v in kube-system", inKubeSystem)
	}
	return everywhere, inKubeSystem, own
}

// serveUser creates a user with the rights that the help of serve names, and returns its kubeconfig. At the end of the
// test none of its writes may have been refused, and it may have written only reviews.
func (w *world) serveUser() (kubeconfig string) {
	w.t.Helper()
	user := w.namespace + "-serve"
	w.users = append(w.users, user)
	ctx := w.t.Context()
	everywhere, inKubeSystem, _ := w.readerRoles()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: everywhere}
	if _, err := w.client.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
	if err := w.cp.Bind(ctx, user, user); err != nil {
		w.t.Fatal(err)
	}
	forCA := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: inKubeSystem}
	if _, err := w.client.RbacV1().Roles("kube-system").Create(ctx, forCA, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.client.RbacV1().RoleBindings("kube-system").Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
	config, err := w.cp.UserConfig(user)
	if err != nil {
		w.t.Fatal(err)
	}
	kubeconfig = filepath.Join(w.dir, user+".kubeconfig")
	if err := controlplane.WriteKubeconfig(config, kubeconfig); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		writes, err := w.cp.CountWrites(func(x controlplane.Write) bool {
			published := x.Resource == "configmaps" && x.Verb == "patch" // a Role has the name of the only one
			return x.User == user && x.Resource != "tokenreviews" && x.Resource != "subjectaccessreviews" && !published
		})
		if err != nil || len(writes) != 0 {
			w.t.Errorf("the reader wrote %v, %v", writes, err)
		}
	})
	return kubeconfig
}

// mayGetRecords creates a ServiceAccount that may only get the non-resource URLs of a reader, and returns a file with
// its token.
func (w *world) mayGetRecords(account string) (file string) {
	w.t.Helper()
	token, name := w.token(account), w.namespace+"-"+account
	role, _, _ := w.readerRoles()
	var paths []string
	for _, rule := range role {
		paths = append(paths, rule.NonResourceURLs...)
	}
	w.mayGet(name, account, paths...)
	file = filepath.Join(w.dir, account+".token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return file
}

// serve starts jobledger serve, and returns its address. It is stopped in good order at the end of the test.
func (w *world) serve(args ...string) (address string) {
	w.t.Helper()
	out := &lines{first: make(chan string, 1)}
	var said bytes.Buffer
	cmd := exec.Command(shared.Program, append([]string{"serve"}, args...)...)
	cmd.Stdout, cmd.Stderr = out, &said
	ended, err := child.Start(cmd)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			w.t.Error(err)
		}
		if err := <-ended; err != nil {
			w.t.Errorf("serve was to end in good order: %v\n%s", err, said.String())
		}
	})
	ctx, cancel := patience.Context(w.t.Context())
	defer cancel()
	select {
	case address = <-out.first:
	case <-ctx.Done():
		w.t.Fatal("serve says no address")
	}
	return address
}

// lines collects the output of a process, and passes on its first line.
type lines struct {
	once  sync.Once
	text  bytes.Buffer
	first chan string
}

func (l *lines) Write(b []byte) (int, error) {
	l.text.Write(b)
	if line, _, whole := strings.Cut(l.text.String(), "\n"); whole {
		l.once.Do(func() { l.first <- line })
	}
	return len(b), nil
}

// client returns a client that trusts a server, with or without a certificate.
func client(trusted *x509.CertPool, certificates ...tls.Certificate) *http.Client {
	return &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, Certificates: certificates}},
		Timeout:   patience.Time(),
	}
}

// reads is a client that reads.
type reads struct {
	t      *testing.T
	client *http.Client
	token  string
}

type heard struct {
	status     int
	note, body string
}

func (r reads) get(address string) heard {
	r.t.Helper()
	request, err := http.NewRequestWithContext(context.WithoutCancel(r.t.Context()), http.MethodGet, address, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	if r.token != "" {
		request.Header.Set("Authorization", "Bearer "+r.token)
	}
	response, err := r.client.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return heard{response.StatusCode, strings.Join(response.Header.Values("Jobledger-Note"), "\n"), string(body)}
}
