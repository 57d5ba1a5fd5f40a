package finding

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
)

// otherwise ends error messages: it tells the user how to read a log without a reader.
const otherwise = "--log DIR and --server URL read without one"

// believed returns an error if the reader would not accept the kubeconfig's credentials, such as a password or
// impersonation.
func believed(config *rest.Config) error {
	switch {
	case config.Impersonate.UserName != "":
		return errors.New("the kubeconfig impersonates another user (as), which the reader does not believe: choose a context " +
			"with the user's own credentials (--context)")
	case config.Username != "" || config.Password != "":
		return errors.New("the kubeconfig has a user name and a password, and the reader takes a token or a client " +
			"certificate: choose a context with one of these (--context)")
	}
	return nil
}

// noEntry explains to the user why the reader's ConfigMap could not be read.
func (f *finder) noEntry(err error) error {
	what := fmt.Sprintf("ConfigMap %s in namespace %s", Name, f.Namespace)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("this cluster (%s) has no reader: there is no %s. docs/install.md says how one is installed; %s",
			f.rest.Host, what, otherwise)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("no reader is found in this cluster (%s): the user of the kubeconfig may not get the %s, which all "+
			"users may where a reader is installed. docs/install.md says how; %s (%w)", f.rest.Host, what, otherwise, err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the API server at %s does not know the user of the kubeconfig: log in again (%w)", f.rest.Host, err)
	}
	return fmt.Errorf("look for the reader of the cluster at %s: %w", f.rest.Host, err)
}

// right explains which rights a port-forward needs, and how a user gets them.
func (f *finder) right(err error) error {
	return fmt.Errorf("the user of the kubeconfig may not connect to the reader. It takes the rights of the Role "+
		"jobledger-reader-forward in namespace %s (get pods, create pods/portforward), which an administrator gives with: "+
		"kubectl -n %s create rolebinding NAME --role jobledger-reader-forward --user USER (%w)", f.Namespace, f.Namespace, err)
}

// noPod explains to the user why the reader's pod could not be read.
func (f *finder) noPod(pod string, err error) error {
	switch {
	case apierrors.IsForbidden(err):
		return f.right(err)
	case apierrors.IsNotFound(err):
		return fmt.Errorf("the pod of the reader, %s in namespace %s, is gone, and no other has published how it is reached: "+
			"try again when a new one has started", pod, f.Namespace)
	}
	return fmt.Errorf("look at the pod of the reader, %s in namespace %s: %w", pod, f.Namespace, err)
}

// notForwarded explains to the user why there is no port-forward to the reader's pod.
func (f *finder) notForwarded(pod string, err error) error {
	var failed *forwardError
	if errors.As(err, &failed) && failed.status == http.StatusForbidden {
		return f.right(failed.cause)
	}
	return fmt.Errorf("connect to the pod of the reader, %s in namespace %s: %w", pod, f.Namespace, err)
}

// notChecked explains a failed TLS handshake with the reader. No request was sent before it; a client certificate was
// sent only if the reader's certificate had passed its check.
func (f *finder) notChecked(err error) error {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var wrong *tls.CertificateVerificationError
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("who answers for the reader has a certificate of another CA than the ConfigMap %s in namespace %s "+
			"names. No credentials were sent to it. If the reader has just restarted, try again (%w)", Name, f.Namespace, err)
	case errors.As(err, &name):
		return fmt.Errorf("the certificate of the reader is not for %s: an administrator gives it that name. No credentials were "+
			"sent (%w)", f.serverName(), err)
	case errors.As(err, &wrong):
		return fmt.Errorf("the certificate of the reader is not accepted. No credentials were sent (%w)", err)
	}
	return fmt.Errorf("connect to the reader: %w", err)
}
