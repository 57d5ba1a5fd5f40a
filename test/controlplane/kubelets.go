package controlplane

import (
	"net/url"
)

// ServiceIP is the cluster IP of the Service kubernetes, by which pods reach the API server. Its certificate is for it
// too.
const ServiceIP = "10.0.0.1"

// kubeletArgs let kubelets join: the API server knows them as nodes, and calls them for logs and exec.
func (cp *ControlPlane) kubeletArgs() []string {
	return []string{
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--kubelet-client-certificate=" + cp.path("components/kubelet-client.crt"),
		"--kubelet-client-key=" + cp.path("components/kubelet-client.key"),
		"--kubelet-preferred-address-types=InternalIP",
		"--allow-privileged=true", // as clusters have it
	}
}

// writeKubeletClient writes the certificate by which kubelets know the API server.
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

// KubeletFiles are what a kubelet needs to join as the node of that name: a kubeconfig, and the certificate authority
// that signs who may call it.
func (cp *ControlPlane) KubeletFiles(node string) (kubeconfig, ca string, err error) {
	kubeconfig, err = cp.componentKubeconfig("system:node:"+node, "system:nodes")
	return kubeconfig, cp.path("components/ca.crt"), err
}

// Address is the host and port at which the API server listens.
func (cp *ControlPlane) Address() (string, error) {
	at, err := url.Parse(cp.host)
	if err != nil {
		return "", err
	}
	return at.Host, nil
}
