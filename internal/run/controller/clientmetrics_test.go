package controller

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	contractRow = regexp.MustCompile("(?m)^\\| ((?:`rest_client_\\w+`(?:, )?)+) \\| (?:counter|histogram) \\| ([a-z, ]+) \\|$")
	description = regexp.MustCompile(`fqName: "(\w+)".* variableLabels: {([^}]*)}`)
)

// O-073: the metrics of requests to the API server have the names and labels that components of Kubernetes have them
// by.
func TestClientMetricsAreThoseOfTheContract(t *testing.T) {
	text, err := os.ReadFile("../../../docs/contract/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{}
	for _, row := range contractRow.FindAllStringSubmatch(string(text), -1) {
		for name := range strings.SplitSeq(row[1], ", ") {
			labels[strings.Trim(name, "`")] = strings.ReplaceAll(row[2], " ", "")
		}
	}
	for _, c := range []prometheus.Collector{requestSeconds, limiterSeconds, requestBytes, responseBytes, requestsTotal, retriesTotal} {
		descriptions := make(chan *prometheus.Desc, 1)
		c.Describe(descriptions)
		m := description.FindStringSubmatch((<-descriptions).String())
		if want := labels[m[1]]; m[2] != want {
			t.Errorf("%s has the labels %q, the contract %q", m[1], m[2], want)
		}
	}
}

// O-046: the user agent is the program and its version, so the field manager of what it writes is jobledger.
func TestWhoWeAreToTheServer(t *testing.T) {
	kubeconfig := t.TempDir() + "/kubeconfig"
	if err := os.WriteFile(kubeconfig, []byte(`{"apiVersion":"v1","kind":"Config","current-context":"c",
		"contexts":[{"name":"c","context":{"cluster":"c"}}],"clusters":[{"name":"c","cluster":{"server":"http://127.0.0.1:1"}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Connect(clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig}, &clientcmd.ConfigOverrides{}), "v1")
	if err != nil {
		t.Fatal(err)
	}
	if name, _, ok := strings.Cut(c.config.UserAgent, "/"); name != "jobledger" || !ok {
		t.Errorf("the user agent is %q", c.config.UserAgent)
	}
}
