package integration

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/forwarding"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/wire/httpport"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/child"
)

// TestTheCommandFindsTheReader: a user with the ClusterRole view in one namespace and the Role of deploy/ for
// port-forwards, and nothing else, asks with the commands and with no flag that names a log. A process of jobledger
// serve answers, in a pod of a node whose kubelet this test plays: it forwards ports to this machine, as for a pod with
// the host's network. All that the API server decides is real. With the same rights no port of the controller's pod is
// reached, and no other namespace is read.
func TestTheCommandFindsTheReader(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	w := newWorld(t)
	cert, key, _ := w.certificate()
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
	f := w.newFinds()
	f.node()
	f.pod("reader-0", f.namespace)
	f.pod("jobledger-0", w.namespace)
	f.reader("reader-0", "--controllers", w.metricsAddress(c.Output), "--controllers-ca-file", cert,
		"--controllers-token-file", w.mayGetRecords("copies"), "--mirror", filepath.Join(w.dir, "mirror"))

	ann := w.namespace + "-ann"
	byCertificate, err := w.cp.UserConfig(ann)
	if err != nil {
		t.Fatal(err)
	}
	byToken := rest.AnonymousClientConfig(byCertificate)
	byToken.BearerToken = w.token("dev")
	users := map[string]*user{}
	for name, row := range map[string]struct {
		config  *rest.Config
		subject rbacv1.Subject
	}{
		"ann": {byCertificate, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: ann}},
		"dev": {byToken, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: w.namespace, Name: "dev"}},
	} {
		users[name] = f.user(name, row.config)
		w.bind(w.namespace, "ClusterRole", "view", row.subject)
		if name == "ann" {
			says := users[name].fails("explain", "job/etl-orders", "-n", w.namespace)
			if !strings.Contains(says, "create rolebinding NAME --role jobledger-reader-forward") {
				t.Errorf("without the right to a port-forward: %s", says)
			}
		}
		w.bind(f.namespace, "Role", "jobledger-reader-forward", row.subject)
	}
	users["plugin"] = f.plugin(byToken)

	for name, u := range users {
		w.eventually(name+" is answered", func() (bool, error) {
			out, _, err := u.run("explain", "job/etl-orders", "-n", w.namespace)
			return err == nil && strings.Contains(out, "etl-orders"), nil
		})
		for _, args := range [][]string{
			{"explain", "etl-orders"}, {"failures"}, {"get", "jobs"}, {"get", "job/etl-orders"}, {"attempts", "job/etl-orders"},
			{"timeline", "job/etl-orders"}, {"find", "etl"}, {"events", "job/etl-orders"}, {"events", "--tail", "5"},
			{"explain", "etl-orders", "-o", "html"}, {"get", "cronjobs"},
		} {
			out, says, err := u.run(append(args, "-n", w.namespace)...)
			if err != nil || args[0] != "failures" && args[1] != "cronjobs" && !strings.Contains(out, "etl-orders") ||
				!strings.Contains(says, "only records of namespace "+w.namespace) {
				t.Errorf("%s: jobledger %v: %v\n%s\n%s", name, args, err, out, says)
			}
		}
		for _, args := range [][]string{{"explain", "x", "-n", other}, {"failures", "-n", other}, {"events", "-n", other}, {"get", "jobs", "-n", other}} {
			if says := u.fails(args...); !strings.Contains(says, "may not list jobs (batch) in namespace "+other) {
				t.Errorf("%s: jobledger %v: %s", name, args, says)
			}
		}
		for _, args := range [][]string{{"failures"}, {"events"}, {"find", "etl"}} {
			if says := u.fails(args...); !strings.Contains(says, "may not list jobs (batch) in all namespaces: name a namespace, such as -n") {
				t.Errorf("%s: jobledger %v: %s", name, args, says)
			}
		}
	}
	f.plugs(users["dev"])
	f.pages(users["ann"])
	f.agent(users["dev"], other)
	f.controllerIsOut(users, c.URL)
	f.saysWhatIsMissing(users["ann"])
}

// finds is a reader that commands find, in a namespace of its own.
type finds struct {
	*world
	namespace string
	kubelet   *httptest.Server
}

// newFinds makes the namespace with the ConfigMap and the Roles of deploy/, and binds the one for all users.
func (w *world) newFinds() *finds {
	w.t.Helper()
	namespace, err := w.cp.CreateNamespace(w.t.Context(), "reader")
	if err != nil {
		w.t.Fatal(err)
	}
	f := &finds{world: w, namespace: namespace}
	ctx := w.t.Context()
	_, _, own := w.readerRoles()
	for name, rules := range own {
		role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
		if _, err := w.client.RbacV1().Roles(namespace).Create(ctx, role, metav1.CreateOptions{}); err != nil {
			w.t.Fatal(err)
		}
	}
	w.bind(namespace, "Role", "jobledger-reader-find", rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:authenticated"})
	w.bind(namespace, "Role", "jobledger-reader", rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: w.namespace + "-serve"})
	published := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "jobledger-reader"}, Data: map[string]string{"service": "jobledger-reader"}}
	if _, err := w.client.CoreV1().ConfigMaps(namespace).Create(ctx, published, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
	return f
}

// bind gives a Role or a ClusterRole in a namespace.
func (w *world) bind(namespace, kind, role string, who rbacv1.Subject) {
	w.t.Helper()
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "finds-"}, Subjects: []rbacv1.Subject{who},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: role},
	}
	if _, err := w.client.RbacV1().RoleBindings(namespace).Create(w.t.Context(), binding, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// node adds a node whose kubelet forwards ports of each pod to this machine, and to which no pod is scheduled.
func (f *finds) node() {
	f.t.Helper()
	f.kubelet = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/portForward/") {
			http.NotFound(w, r)
			return
		}
		forwarding.Serve(w, r, func(port string) (net.Conn, error) { return net.Dial("tcp", "127.0.0.1:"+port) })
	}))
	f.kubelet.StartTLS()
	f.t.Cleanup(f.kubelet.Close)
	_, text, err := net.SplitHostPort(f.kubelet.Listener.Addr().String())
	if err != nil {
		f.t.Fatal(err)
	}
	port, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := f.cp.AddNode(f.t.Context(), f.namespace, func(n *corev1.Node) {
		n.Spec.Unschedulable = true
		n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}}
		n.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(port)
	}); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		if err := f.client.CoreV1().Nodes().Delete(context.WithoutCancel(f.t.Context()), f.namespace, metav1.DeleteOptions{}); err != nil {
			f.t.Error(err)
		}
	})
}

// pod makes a pod of that node, and returns when it runs.
func (f *finds) pod(name, namespace string) {
	f.t.Helper()
	runs := map[string]string{controlplane.AnnotationOutcome: controlplane.OutcomeRun}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: runs}, Spec: corev1.PodSpec{
		NodeName: f.namespace, Containers: []corev1.Container{{Name: "main", Image: "jobledger"}},
	}}
	pods := f.client.CoreV1().Pods(namespace)
	if _, err := pods.Create(f.t.Context(), pod, metav1.CreateOptions{}); err != nil {
		f.t.Fatal(err)
	}
	f.eventually(name+" runs", func() (bool, error) {
		found, err := pods.Get(f.t.Context(), name, metav1.GetOptions{})
		return err == nil && found.Status.Phase == corev1.PodRunning, err
	})
}

// reader starts a reader with a certificate that it makes, and returns when it has published how it is reached.
func (f *finds) reader(pod string, args ...string) {
	f.t.Helper()
	f.serve(append(args, "--kubeconfig", f.serveUser(), "--listen", "127.0.0.1:0", "--publish", f.namespace+"/jobledger-reader",
		"--publish-pod", pod, "--tls-hosts", "jobledger-reader."+f.namespace+".svc", "--base-path", "/ledger")...)
	f.eventually("the reader publishes how it is reached", func() (bool, error) {
		found, err := f.client.CoreV1().ConfigMaps(f.namespace).Get(f.t.Context(), "jobledger-reader", metav1.GetOptions{})
		return err == nil && found.Data["pod"] == pod, err
	})
}

// user is somebody with a kubeconfig.
type user struct {
	f          *finds
	config     *rest.Config
	kubeconfig string
}

func (f *finds) user(name string, config *rest.Config) *user {
	f.t.Helper()
	u := &user{f, config, filepath.Join(f.dir, name+".kubeconfig")}
	if err := controlplane.WriteKubeconfig(config, u.kubeconfig); err != nil {
		f.t.Fatal(err)
	}
	return u
}

// plugin is a user whose kubeconfig has a credential plugin, which gives the token of config.
func (f *finds) plugin(config *rest.Config) *user {
	f.t.Helper()
	u := f.user("plugin", rest.AnonymousClientConfig(config))
	program := filepath.Join(f.dir, "plugin.sh")
	credential, err := json.Marshal(map[string]any{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
		"status": map[string]string{"token": config.BearerToken}})
	if err != nil {
		f.t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\necho '%s'\n", credential)
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil { //nolint:gosec // it is run
		f.t.Fatal(err)
	}
	text, err := os.ReadFile(u.kubeconfig)
	if err != nil {
		f.t.Fatal(err)
	}
	exec := fmt.Sprintf("exec: {apiVersion: client.authentication.k8s.io/v1, command: %q, interactiveMode: Never}", program)
	with := strings.Replace(string(text), "user: {}", "user: {"+exec+"}", 1)
	if with == string(text) {
		f.t.Fatalf("the kubeconfig has no place for a plugin:\n%s", text)
	}
	if err := os.WriteFile(u.kubeconfig, []byte(with), 0o600); err != nil {
		f.t.Fatal(err)
	}
	return u
}

// command is jobledger as the user runs it: with the kubeconfig and the namespace of the reader, and nothing else.
func (u *user) command(args ...string) *exec.Cmd {
	cmd := exec.Command(shared.Program, append(args, "--reader-namespace", u.f.namespace)...)
	cmd.Env = []string{"KUBECONFIG=" + u.kubeconfig, "HOME=" + u.f.dir, "PATH=" + os.Getenv("PATH")}
	return cmd
}

// run runs a command to its end.
func (u *user) run(args ...string) (out, says string, err error) {
	cmd := u.command(args...)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	ended, err := child.Start(cmd)
	if err == nil {
		err = <-ended
	}
	return o.String(), e.String(), err
}

// fails runs a command that must fail without an answer, and gives what it says.
func (u *user) fails(args ...string) string {
	u.f.t.Helper()
	out, says, err := u.run(args...)
	if err == nil || strings.Contains(out, "etl-orders") {
		u.f.t.Errorf("jobledger %v: want an error\n%s", args, out)
	}
	return says
}

// plugs asks as kubectl's plugin, in the namespace of the kubeconfig.
func (f *finds) plugs(u *user) {
	f.t.Helper()
	link := filepath.Join(f.dir, "kubectl-jobledger")
	if err := os.Symlink(shared.Program, link); err != nil {
		f.t.Fatal(err)
	}
	text, err := os.ReadFile(u.kubeconfig)
	if err != nil {
		f.t.Fatal(err)
	}
	with := strings.Replace(string(text), "    cluster: test\n", "    cluster: test\n    namespace: "+f.world.namespace+"\n", 1)
	if err := os.WriteFile(u.kubeconfig, []byte(with), 0o600); err != nil {
		f.t.Fatal(err)
	}
	cmd := u.command("explain", "job/etl-orders")
	cmd.Path, cmd.Args[0] = link, link
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "etl-orders") {
		f.t.Errorf("kubectl jobledger explain job/etl-orders: %v\n%s", err, out)
	}
}

// pages opens the reader's pages by jobledger ui, as its one browser, and as another program of this machine.
func (f *finds) pages(u *user) {
	f.t.Helper()
	cmd := u.command("ui")
	out := &lines{first: make(chan string, 1)}
	cmd.Stdout = out
	ended, err := child.Start(cmd)
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			f.t.Error(err)
		}
		if err := <-ended; err != nil {
			f.t.Errorf("ui was to end in good order: %v", err)
		}
	}()
	ctx, cancel := patience.Context(f.t.Context())
	defer cancel()
	var first string
	select {
	case first = <-out.first:
	case <-ctx.Done():
		f.t.Fatal("ui says no address")
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		f.t.Fatal(err)
	}
	browser := reads{t: f.t, client: &http.Client{Jar: jar, Timeout: patience.Time()}}
	base := strings.TrimSuffix(first[:strings.Index(first, "?")], "/")
	if got := browser.get(first); got.status != http.StatusForbidden || !strings.Contains(got.body, "may not list jobs (batch) in all namespaces") {
		f.t.Errorf("the first page of who may read one namespace: %d\n%s", got.status, got.body)
	}
	at := base + "/ledger/job/" + f.world.namespace + "/etl-orders"
	if got := browser.get(at); got.status != http.StatusOK || !strings.Contains(got.body, "etl-orders") ||
		!strings.Contains(got.body, `href="/ledger/`) {
		f.t.Errorf("%s: %d\n%s", at, got.status, got.body)
	}
	if got := (reads{t: f.t, client: http.DefaultClient}).get(at); got.status != http.StatusForbidden || strings.Contains(got.body, "etl-orders") {
		f.t.Errorf("without the cookie: %d\n%s", got.status, got.body)
	}
}

// agent asks with the tools of jobledger mcp, as a language model's client does: in the namespace that the user may
// read, in that of the command, and in another.
func (f *finds) agent(u *user, other string) {
	f.t.Helper()
	cmd := u.command("mcp", "-n", f.world.namespace)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		f.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		f.t.Fatal(err)
	}
	ended, err := child.Start(cmd)
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(in.Close(), <-ended); err != nil { // it ends with its input
			f.t.Error(err)
		}
	}()
	lines, number := bufio.NewReader(out), 0
	send := func(message map[string]any) {
		message["jsonrpc"] = "2.0"
		if err := json.NewEncoder(in).Encode(message); err != nil {
			f.t.Fatal(err)
		}
	}
	var answer struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
		Error any
	}
	ask := func(method string, params any) {
		number++
		send(map[string]any{"id": number, "method": method, "params": params})
		line, err := lines.ReadBytes('\n')
		if err != nil {
			f.t.Fatal(err)
		}
		answer.Result.Content, answer.Result.IsError = nil, false
		if err := json.Unmarshal(line, &answer); err != nil || answer.Error != nil {
			f.t.Fatalf("%s: %v, %v", method, answer.Error, err)
		}
	}
	ask("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": struct{}{}, "clientInfo": map[string]string{"name": "test", "version": "1"},
	})
	send(map[string]any{"method": "notifications/initialized"})
	call := func(tool string, arguments map[string]any) (text string, failed bool) {
		ask("tools/call", map[string]any{"name": tool, "arguments": arguments})
		for _, part := range answer.Result.Content {
			text += part.Text
		}
		return text, answer.Result.IsError
	}
	for tool, arguments := range map[string]map[string]any{
		"explain": {"object": "job/etl-orders"}, "find": {"text": "etl"}, "attempts": {"object": "job/etl-orders"}, "failures": {},
		"records": {"object": "job/etl-orders"},
	} {
		text, failed := call(tool, arguments)
		if failed || tool != "failures" && !strings.Contains(text, "etl-orders") {
			f.t.Errorf("%s of the found reader: %s", tool, text)
		}
	}
	text, failed := call("explain", map[string]any{"object": "job/etl-orders", "namespace": other})
	if !failed || !strings.Contains(text, "may not list jobs (batch) in namespace "+other) {
		f.t.Errorf("explain of another namespace: %s", text)
	}
}

// forwarded asks for a path of a port of a pod, through a port-forward.
func (f *finds) forwarded(config *rest.Config, namespace, pod, port string) (status int, err error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return 0, err
	}
	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return 0, err
	}
	at := client.CoreV1().RESTClient().Post().Resource("pods").Namespace(namespace).Name(pod).SubResource("portforward").URL()
	dialer := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, at)
	stop, ready := make(chan struct{}), make(chan struct{})
	forwarder, err := portforward.New(dialer, []string{"0:" + port}, stop, ready, io.Discard, io.Discard)
	if err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- forwarder.ForwardPorts() }() // ends with stop
	select {
	case err := <-ended:
		return 0, err
	case <-ready:
	}
	defer func() { close(stop); <-ended }() //nolint:errcheck // it ends because it was told to
	ports, err := forwarder.GetPorts()
	if err != nil {
		return 0, err
	}
	got := reads{t: f.t, client: http.DefaultClient}.get(fmt.Sprintf("http://127.0.0.1:%d/v1/log", ports[0].Local))
	return got.status, nil
}

// controllerIsOut: who may forward ports to the reader's pod reaches no port of the controller's. The same forward
// works for an administrator, so it is the right that is missing.
func (f *finds) controllerIsOut(users map[string]*user, controller string) {
	f.t.Helper()
	port := controller[strings.LastIndex(controller, ":")+1:]
	if status, err := f.forwarded(f.cp.RESTConfig(), f.world.namespace, "jobledger-0", port); err != nil || status != http.StatusOK {
		f.t.Errorf("an administrator gets %d %v", status, err)
	}
	for name, u := range users {
		if name == "plugin" {
			continue // its client configuration has no token; it is that of dev
		}
		for _, pod := range []string{"jobledger-0", "any"} {
			_, err := f.forwarded(u.config, f.world.namespace, pod, port)
			if err == nil || !strings.Contains(err.Error(), "forbidden") {
				f.t.Errorf("%s forwards a port of %s: %v", name, pod, err)
			}
		}
		client, err := kubernetes.NewForConfig(u.config)
		if err != nil {
			f.t.Fatal(err)
		}
		_, err = client.CoreV1().Pods(f.namespace).List(f.t.Context(), metav1.ListOptions{})
		if !apierrors.IsForbidden(err) {
			f.t.Errorf("%s lists the pods of the reader's namespace: %v", name, err)
		}
	}
}

// saysWhatIsMissing: where no reader is, and where somebody else answers for it.
func (f *finds) saysWhatIsMissing(u *user) {
	f.t.Helper()
	cmd := exec.Command(shared.Program, "failures", "--kubeconfig", u.kubeconfig, "--reader-namespace", f.world.namespace+"-none")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "no reader is found in this cluster") {
		f.t.Errorf("without a reader: %v\n%s", err, out)
	}
	own, err := httpport.Made([]string{"jobledger-reader." + f.namespace + ".svc"})
	if err != nil {
		f.t.Fatal(err)
	}
	asked := make(chan string, 100)
	other := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get("Authorization")
	}))
	other.TLS = &tls.Config{GetCertificate: own.TLS.GetCertificate, MinVersion: tls.VersionTLS12} // the reader's name, and another CA
	other.Config.ErrorLog = log.New(io.Discard, "", 0)                                            // the handshake that fails
	other.StartTLS()
	defer other.Close()
	_, port, _ := net.SplitHostPort(other.Listener.Addr().String())
	maps := f.client.CoreV1().ConfigMaps(f.namespace)
	found, err := maps.Get(f.t.Context(), "jobledger-reader", metav1.GetOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	found.Data["port"] = port
	found.Data["since"] = "2999-01-01T00:00:00Z" // so that the reader does not put it right
	if _, err := maps.Update(f.t.Context(), found, metav1.UpdateOptions{}); err != nil {
		f.t.Fatal(err)
	}
	if says := u.fails("failures", "-n", f.world.namespace); !strings.Contains(says, "has a certificate of another CA") {
		f.t.Errorf("with another CA: %s", says)
	}
	select {
	case token := <-asked:
		f.t.Errorf("who has a certificate of another CA is asked, with %q", token)
	default:
	}
}
