package controlplane

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// mastersGroup is a group whose members may do everything: the API server does not check RBAC for them.
const mastersGroup = "system:masters"

// RESTConfig returns a client configuration for an administrator, without a client-side rate limit. The caller may
// change it.
func (cp *ControlPlane) RESTConfig() *rest.Config { return rest.CopyConfig(cp.admin) }

// Kubeconfig returns the path of the administrator's kubeconfig.
func (cp *ControlPlane) Kubeconfig() string { return cp.path("kubeconfig") }

// UserConfig returns a client configuration for a user in these groups, authenticated by a certificate. The user has no
// rights until RBAC grants some, see Bind. The audit log shows the user's name.
func (cp *ControlPlane) UserConfig(name string, groups ...string) (*rest.Config, error) {
	cert, key, err := cp.ca.client(name, groups)
	if err != nil {
		return nil, err
	}
	c := cp.anonymous()
	c.CertData, c.KeyData = cert, key
	return c, nil
}

// ServiceAccountConfig returns a client configuration with a token of an existing ServiceAccount, valid for a day. The
// audit log shows the user as system:serviceaccount:NAMESPACE:NAME.
func (cp *ControlPlane) ServiceAccountConfig(ctx context.Context, namespace, name string) (*rest.Config, error) {
	client, err := kubernetes.NewForConfig(cp.RESTConfig())
	if err != nil {
		return nil, err
	}
	seconds := int64(24 * 60 * 60)
	token, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("get a token of ServiceAccount %s/%s: %w", namespace, name, err)
	}
	c := cp.anonymous()
	c.BearerToken = token.Status.Token
	return c, nil
}

// Bind binds a ClusterRole to a user in all namespaces. user is a name given to UserConfig, or for a ServiceAccount
// system:serviceaccount:NAMESPACE:NAME.
func (cp *ControlPlane) Bind(ctx context.Context, user, clusterRole string) error {
	client, err := kubernetes.NewForConfig(cp.RESTConfig())
	if err != nil {
		return err
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: clusterRole},
		Subjects:   []rbacv1.Subject{subject(user)},
	}
	if _, err := client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("give %s the ClusterRole %s: %w", user, clusterRole, err)
	}
	return nil
}

func subject(user string) rbacv1.Subject {
	if rest, ok := strings.CutPrefix(user, "system:serviceaccount:"); ok {
		if namespace, name, ok := strings.Cut(rest, ":"); ok {
			return rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}
		}
	}
	return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}
}

// WriteKubeconfig writes a client configuration as a kubeconfig that only its owner can read.
func WriteKubeconfig(c *rest.Config, path string) error {
	data, err := clientcmd.Write(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"test": {
			Server:                   c.Host,
			CertificateAuthorityData: c.CAData,
			TLSServerName:            c.ServerName,
		}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"test": {
			ClientCertificateData: c.CertData,
			ClientKeyData:         c.KeyData,
			Token:                 c.BearerToken,
		}},
		Contexts:       map[string]*clientcmdapi.Context{"test": {Cluster: "test", AuthInfo: "test"}},
		CurrentContext: "test",
	})
	if err != nil {
		return fmt.Errorf("encode a kubeconfig: %w", err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("write a kubeconfig: %w", err)
	}
	return nil
}

// anonymous returns a client configuration without credentials and, because tests measure the server, without a rate
// limit.
func (cp *ControlPlane) anonymous() *rest.Config {
	return &rest.Config{
		Host:            cp.host,
		TLSClientConfig: rest.TLSClientConfig{CAData: cp.ca.pem},
		QPS:             -1,
	}
}

// componentKubeconfig creates a user for a component of the control plane, and returns the path of its kubeconfig.
func (cp *ControlPlane) componentKubeconfig(user string, groups ...string) (string, error) {
	c, err := cp.UserConfig(user, groups...)
	if err != nil {
		return "", err
	}
	path := cp.path(filepath.Join("components", strings.ReplaceAll(user, ":", "-")+".kubeconfig"))
	return path, WriteKubeconfig(c, path)
}
