package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	charts "helm.sh/helm/v4/pkg/chart"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/engine"
	"helm.sh/helm/v4/pkg/strvals"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

// several are the objects of a release with several controllers.
type several struct {
	*testing.T
	set      statefulSet
	rendered map[string]string
	secrets  map[string]secret
}

type statefulSet struct {
	Spec struct {
		Replicas            int
		PodManagementPolicy string
		Template            struct {
			Spec struct {
				Affinity                  map[string]any
				TopologySpreadConstraints []any
				Containers                []struct {
					Args                          []string
					LivenessProbe, ReadinessProbe struct{ HTTPGet struct{ Scheme string } }
					VolumeMounts                  []struct{ Name, MountPath string }
				}
				Volumes []struct {
					Name   string
					Secret struct {
						SecretName  string
						DefaultMode int
					}
				}
			}
		}
	}
}

type secret struct {
	Metadata struct {
		Name        string
		Annotations map[string]string
	}
	Immutable bool
	Type      string
	Data      map[string][]byte
}

func newSeveral(t *testing.T, values string) *several {
	t.Helper()
	return severalBeside(t, values, nil)
}

// severalBeside is newSeveral in a cluster with these Secrets.
func severalBeside(t *testing.T, values string, there map[string]secret) *several {
	t.Helper()
	set, err := valuesWithImage(values)
	if err != nil {
		t.Fatal(err)
	}
	by := func(of charts.Charter, all common.Values) (map[string]string, error) {
		return engine.RenderWithClientProvider(of, all, cluster(there))
	}
	rendered, err := renderBy(by, filepath.Join(deploy, "chart"), release, set)
	if err != nil {
		t.Fatal(err)
	}
	s := &several{T: t, rendered: rendered, secrets: map[string]secret{}}
	if err := yaml.Unmarshal([]byte(rendered["statefulset.yaml"]), &s.set); err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(rendered["ha.yaml"], "---\n") {
		if !strings.Contains(document, "kind: Secret\n") {
			continue
		}
		var made secret
		if err := yaml.Unmarshal([]byte(document), &made); err != nil {
			t.Fatal(err)
		}
		s.secrets[made.Metadata.Name] = made
	}
	return s
}

// apart checks that a number of controllers are kept apart, and that one may be away at a time.
func (s *several) apart(replicas int) {
	s.Helper()
	spec := s.set.Spec.Template.Spec
	if s.set.Spec.Replicas != replicas || s.set.Spec.PodManagementPolicy != "Parallel" || spec.Affinity["podAntiAffinity"] == nil ||
		len(spec.TopologySpreadConstraints) != 1 || !strings.Contains(s.rendered["ha.yaml"], "maxUnavailable: 1\n") {
		s.Errorf("they are not kept apart:\n%s\n%s", s.rendered["statefulset.yaml"], s.rendered["ha.yaml"])
	}
}

// has checks that the controllers have these arguments.
func (s *several) has(wanted ...string) {
	s.Helper()
	args := s.set.Spec.Template.Spec.Containers[0].Args
	for _, want := range wanted {
		if !slices.Contains(args, want) {
			s.Errorf("the arguments %q lack %s", args, want)
		}
	}
}

// mounts returns the Secret at a path in the container.
func (s *several) mounts(path string) (name string, mode int) {
	s.Helper()
	spec := s.set.Spec.Template.Spec
	for _, mount := range spec.Containers[0].VolumeMounts {
		for _, volume := range spec.Volumes {
			if mount.MountPath == path && mount.Name == volume.Name {
				return volume.Secret.SecretName, volume.Secret.DefaultMode
			}
		}
	}
	s.Errorf("nothing is mounted at %s:\n%s", path, s.rendered["statefulset.yaml"])
	return "", 0
}

// madeKey checks the key that the chart makes.
func (s *several) madeKey() {
	s.Helper()
	name, mode := s.mounts("/etc/jobledger/log-key")
	key := s.secrets[name]
	if mode != 0o440 || len(key.Data["key"]) != 32 || !key.Immutable || key.Metadata.Annotations["helm.sh/resource-policy"] != "keep" {
		s.Errorf("the key is %+v", key)
	}
}

// TestSeveralControllersWithNATS: they may reach NATS, and no Secret is made for those that are named.
func TestSeveralControllersWithNATS(t *testing.T) {
	s := newSeveral(t, haNATS+"\nnetworkPolicy: {enabled: true}")
	s.apart(3)
	s.madeKey()
	s.has("--log-key-file=/etc/jobledger/log-key/key", "--replicate=nats://a:4222", "--replicate-stream=jobledger-log",
		"--replicate-members=3", "--replicate-monitor=http://a:8222")
	for _, port := range []string{"- port: 4222\n", "- port: 8222\n"} {
		if !strings.Contains(s.rendered["networkpolicy.yaml"], port) {
			t.Errorf("they may not reach %s:\n%s", port, s.rendered["networkpolicy.yaml"])
		}
	}
	s = newSeveral(t, strings.Replace(haNATS, "enabled: true", "enabled: true, keySecret: mine, caSecret: ca", 1))
	s.has("--replicate-ca=/etc/jobledger/replicate-ca/ca.crt")
	if name, _ := s.mounts("/etc/jobledger/log-key"); name != "mine" || len(s.secrets) > 0 {
		t.Errorf("the Secret with the key is %s; made are %v", name, s.secrets)
	}
	if name, _ := s.mounts("/etc/jobledger/replicate-ca"); name != "ca" {
		t.Errorf("the Secret with the CA is %s", name)
	}
}

// TestTwoControllers: with ha.enabled alone there are two, which follow each other. The chart makes their key and a
// certificate, with which each proves to the other that it is one. They may reach each other, and Prometheus knows the
// certificate.
func TestTwoControllers(t *testing.T) {
	s := newSeveral(t, ha+"\nnetworkPolicy: {enabled: true, metricsFrom: [{podSelector: {}}]}\nserviceMonitor: {enabled: true}")
	s.apart(2)
	s.madeKey()
	s.has("--log-key-file=/etc/jobledger/log-key/key", "--follow=https://jobledger.jobledger.svc:10272", "--readers",
		"--follow-ca=/etc/jobledger/metrics-tls/ca.crt", "--metrics-bind-address=:10272",
		"--metrics-tls-cert-file=/etc/jobledger/metrics-tls/tls.crt", "--metrics-tls-key-file=/etc/jobledger/metrics-tls/tls.key")
	name, _ := s.mounts("/etc/jobledger/metrics-tls")
	made := s.secrets[name]
	if len(s.secrets) != 2 || made.Type != "kubernetes.io/tls" || made.Metadata.Annotations["helm.sh/resource-policy"] != "keep" {
		t.Errorf("made are %v", s.secrets)
	}
	s.certificate(made.Data)
	container := s.set.Spec.Template.Spec.Containers[0]
	if container.LivenessProbe.HTTPGet.Scheme != "HTTPS" || container.ReadinessProbe.HTTPGet.Scheme != "HTTPS" {
		t.Error("the probes ask without TLS")
	}
	own := regexp.MustCompile(`podSelector:[^\n]*\n +matchLabels:\n +app.kubernetes.io/name: jobledger\n`)
	if n := len(own.FindAllString(s.rendered["networkpolicy.yaml"], -1)); n != 3 { // whom it is for, from whom, to whom
		t.Errorf("they may not reach each other:\n%s", s.rendered["networkpolicy.yaml"])
	}
	for _, want := range []string{"scheme: https\n", "name: jobledger-tls\n", "serverName: jobledger.jobledger.svc\n"} {
		if !strings.Contains(s.rendered["servicemonitor.yaml"], want) {
			t.Errorf("the ServiceMonitor lacks %s:\n%s", want, s.rendered["servicemonitor.yaml"])
		}
	}
	newSeveral(t, "ha: {enabled: true, replicas: 3}").apart(3)
}

// certificate checks a pair that is valid for the host of the controllers, for ten years, against its CA.
func (s *several) certificate(data map[string][]byte) {
	s.Helper()
	pair, err := tls.X509KeyPair(data["tls.crt"], data["tls.key"])
	if err != nil {
		s.Fatal(err)
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(data["ca.crt"]) {
		s.Fatalf("the CA is %s", data["ca.crt"])
	}
	until := time.Now().AddDate(9, 11, 0)
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{
		DNSName: "jobledger.jobledger.svc", Roots: authorities, CurrentTime: until,
	}); err != nil {
		s.Error(err)
	}
}

// TestTwoControllersWithACertificate: no certificate is made beside the one that is named, whose CA is beside it or in a
// Secret of its own.
func TestTwoControllersWithACertificate(t *testing.T) {
	named := "metrics: {tlsSecret: mine}\nserviceMonitor: {enabled: true}\nha: {enabled: true, keySecret: key}"
	s := newSeveral(t, named)
	s.has("--follow-ca=/etc/jobledger/metrics-tls/ca.crt")
	if name, _ := s.mounts("/etc/jobledger/metrics-tls"); name != "mine" || len(s.secrets) > 0 {
		t.Errorf("the Secret is %s; made are %v", name, s.secrets)
	}
	if strings.Contains(s.rendered["servicemonitor.yaml"], "tlsConfig") {
		t.Errorf("it says who signed a certificate that is not the chart's:\n%s", s.rendered["servicemonitor.yaml"])
	}
	s = newSeveral(t, strings.Replace(named, "keySecret: key", "keySecret: key, caSecret: ca", 1))
	s.has("--follow-ca=/etc/jobledger/follow-ca/ca.crt")
	if name, _ := s.mounts("/etc/jobledger/follow-ca"); name != "ca" {
		t.Errorf("the Secret with the CA is %s", name)
	}
}

// TestThePageOfTwoControllers: the command of docs/ha.md sets nothing but the image and ha.enabled.
func TestThePageOfTwoControllers(t *testing.T) {
	page, err := os.ReadFile("../../../docs/ha.md")
	if err != nil {
		t.Fatal(err)
	}
	_, command, _ := strings.Cut(string(page), "\nhelm install ")
	command, _, _ = strings.Cut(strings.ReplaceAll(command, "\\\n", ""), "\n")
	set := common.Values{}
	for _, m := range regexp.MustCompile(`--set (\S+)`).FindAllStringSubmatch(command, -1) {
		if err := strvals.ParseInto(m[1], set); err != nil {
			t.Fatal(err)
		}
	}
	values, err := yaml.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	s := newSeveral(t, string(values))
	s.apart(2)
	s.has("--follow=https://jobledger.jobledger.svc:10272")
	if len(set) != 2 || len(s.secrets) != 2 {
		t.Errorf("set are %v, made are %v", set, s.secrets)
	}
}

// TestWhatIsMadeOnceIsKept: an upgrade renders the Secrets that are there.
func TestWhatIsMadeOnceIsKept(t *testing.T) {
	first := newSeveral(t, ha)
	if len(first.secrets) != 2 {
		t.Fatalf("made are %v", first.secrets)
	}
	again := severalBeside(t, ha, first.secrets)
	for name, want := range first.secrets {
		got := again.secrets[name]
		for file, data := range want.Data {
			if !bytes.Equal(got.Data[file], data) {
				t.Errorf("%s of the Secret %s is another one", file, name)
			}
		}
	}
}

// cluster has Secrets, which the chart looks up.
type cluster map[string]secret

// GetClientFor implements engine.ClientProvider.
func (c cluster) GetClientFor(_, _ string) (dynamic.NamespaceableResourceInterface, bool, error) {
	return secrets{all: c}, true, nil
}

// secrets answers Get and nothing else.
type secrets struct {
	dynamic.NamespaceableResourceInterface
	all cluster
}

func (s secrets) Namespace(string) dynamic.ResourceInterface { return s }

func (s secrets) Get(_ context.Context, name string, _ metav1.GetOptions, _ ...string) (*unstructured.Unstructured, error) {
	found, is := s.all[name]
	if !is {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, name)
	}
	data := map[string]any{}
	for file, content := range found.Data {
		data[file] = base64.StdEncoding.EncodeToString(content)
	}
	return &unstructured.Unstructured{Object: map[string]any{"data": data}}, nil
}
