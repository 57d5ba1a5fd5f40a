package controlplane

import (
	"net/url"
)

// ServiceIP is the cluster IP of the Service kubernetes, at which pods reach the API server. The API server's
// certificate is also valid for it.
const ServiceIP = "10.0.0.1"

// kubeletArgs returns arguments with which the API server accepts real kubelets, and calls them for logs and exec.
func (cp *ControlPlane) kubeletArgs() []string {
	return []string{
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--kubelet-client-certificate=" + cp.path("components/kubelet-client.crt"),
		"--kubelet-client-key=" + cp.path("components/kubelet-client.key"),
		"--kubelet-preferred-address-types=InternalIP",
		"--allow-privileged=true", // pods may be privileged, as in most clusters
	}
}

// writeKubeletClient writes the certificate with which the API server authenticates to kubelets.
func (cp *ControlPlane) writeKubeletClient() error {
	cert, key, err := cp.ca.client("kube-apiserver", []string{mastersGroup})
	if err != nil {
		return err
	}
	return writeFiles(map[string][]byte{
		cp.path("components/kubelet-client.crt"): cert,
		cp.path("components/kubelet-client.key"): key,
	})
}

// KubeletFiles returns the files that a kubelet needs to join as a node: its kubeconfig, and the certificate authority
// of the clients that may call it.
func (cp *ControlPlane) KubeletFiles(node string) (kubeconfig, ca string, err error) {
	kubeconfig, err = cp.componentKubeconfig("system:node:"+node, "system:nodes")
	return kubeconfig, cp.path("components/ca.crt"), err
}

// Address returns the host and port of the API server.
func (cp *ControlPlane) Address() (string, error) {
	at, err := url.Parse(cp.host)
	if err != nil {
		return "", err
	}
	return at.Host, nil
}
