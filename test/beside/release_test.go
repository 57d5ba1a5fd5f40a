package beside

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/jobledger/jobledger/test/binaries"
)

// release has the objects that the manifests of a tool's release install.
type release struct {
	objects []unstructured.Unstructured
	config  map[string]any // of the program
}

// installed are the kinds that are applied. The others would run the program in a pod, which is not possible here.
var installed = []string{
	"Namespace", "CustomResourceDefinition", "ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "Secret",
	"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
}

// readRelease reads the manifests of the release that a program is built from, like 'kubectl apply -k config/default'.
func readRelease(ctx context.Context, kubectl, name string) (*release, error) {
	source, err := binaries.Source(ctx, name)
	if err != nil {
		return nil, err
	}
	out, err := run(exec.CommandContext(ctx, kubectl, "kustomize", filepath.Join(source, "config", "default")))
	if err != nil {
		return nil, fmt.Errorf("read the release of %s: %w", name, err)
	}
	r := new(release)
	for documents := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(out), 4096); ; {
		var o unstructured.Unstructured
		if err := documents.Decode(&o); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read the release of %s: %w", name, err)
		}
		if text, ok, _ := unstructured.NestedString(o.Object, "data", "controller_manager_config.yaml"); ok {
			if err := yaml.Unmarshal([]byte(text), &r.config); err != nil {
				return nil, fmt.Errorf("read the configuration of %s: %w", name, err)
			}
		}
		if slices.Contains(installed, o.GetKind()) {
			r.objects = append(r.objects, o)
		}
	}
	if r.config == nil || len(r.objects) < len(installed) {
		return nil, fmt.Errorf("the release of %s has %d objects and the configuration %v", name, len(r.objects), r.config)
	}
	return r, nil
}

// serveAt makes the API server call the webhooks of the release at an address of this machine.
func (r *release) serveAt(address string, c *certificates) error {
	n := 0
	for i := range r.objects {
		o := &r.objects[i]
		switch o.GetKind() {
		case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
			hooks, _, err := unstructured.NestedSlice(o.Object, "webhooks")
			if err != nil {
				return err
			}
			for _, hook := range hooks {
				n += redirect(hook.(map[string]any), address, c.ca)
			}
			if err := unstructured.SetNestedSlice(o.Object, hooks, "webhooks"); err != nil {
				return err
			}
		case "CustomResourceDefinition":
			if hook, ok, _ := unstructured.NestedMap(o.Object, "spec", "conversion", "webhook"); ok {
				n += redirect(hook, address, c.ca)
				if err := unstructured.SetNestedMap(o.Object, hook, "spec", "conversion", "webhook"); err != nil {
					return err
				}
			}
		case "Secret": // the certificate's; Kueue keeps using what it finds there
			data := map[string]any{}
			for key, value := range map[string][]byte{"ca.crt": c.ca, "ca.key": c.caKey, "tls.crt": c.server, "tls.key": c.serverKey} {
				data[key] = base64.StdEncoding.EncodeToString(value)
			}
			o.Object["data"] = data
		}
	}
	if n == 0 {
		return errors.New("the release has no webhooks")
	}
	return nil
}

// redirect gives a webhook a URL in place of its Service.
func redirect(hook map[string]any, address string, ca []byte) (changed int) {
	path, ok, _ := unstructured.NestedString(hook, "clientConfig", "service", "path")
	if !ok {
		return 0
	}
	hook["clientConfig"] = map[string]any{"url": "https://" + address + path, "caBundle": base64.StdEncoding.EncodeToString(ca)}
	return 1
}

// apply applies the release, and returns when the API server serves its kinds.
func (r *release) apply(ctx context.Context, kubectl, kubeconfig string) error {
	for _, only := range [][]string{{"Namespace", "CustomResourceDefinition"}, installed[2:]} { // what others rest on
		list := unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List"}}
		for _, o := range r.objects {
			if slices.Contains(only, o.GetKind()) {
				list.Items = append(list.Items, o)
			}
		}
		text, err := json.Marshal(&list)
		if err != nil {
			return err
		}
		apply := exec.CommandContext(ctx, kubectl, "--kubeconfig", kubeconfig, "apply", "--server-side", "--force-conflicts", "-f", "-")
		apply.Stdin = bytes.NewReader(text)
		if _, err := run(apply); err != nil {
			return err
		}
	}
	_, err := run(exec.CommandContext(ctx, kubectl, "--kubeconfig", kubeconfig, "wait", "--for=condition=Established", "--timeout=1m", "crd", "--all"))
	return err
}

// run runs a command to its end. The error has its standard error.
func run(cmd *exec.Cmd) (out []byte, err error) {
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	if out, err = cmd.Output(); err != nil {
		return nil, fmt.Errorf("%v: %w\n%s%s", cmd.Args, err, out, &complaint)
	}
	return out, nil
}
