package identity

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The ConfigMap in which the API server publishes the CA that signs client certificates, and the key with that CA.
const (
	caNamespace = "kube-system"
	caName      = "extension-apiserver-authentication"
	caKey       = "client-ca-file"

	readAgain = time.Minute
)

// groupAll is the group that the API server gives to every authenticated user.
const groupAll = "system:authenticated"

// Run reads the CA of client certificates from the cluster, at once and then every minute, until ctx ends.
func (i *Identity) Run(ctx context.Context) {
	tick := time.NewTicker(readAgain)
	defer tick.Stop()
	for {
		if err := i.readCA(ctx); err != nil && ctx.Err() == nil {
			i.logger.Warn("the CA of client certificates cannot be read: the one before is used, or none", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// readCA reads the CA of client certificates from its ConfigMap. If the cluster has none, no client certificate is
// accepted.
func (i *Identity) readCA(ctx context.Context) error {
	m, err := i.client.CoreV1().ConfigMaps(caNamespace).Get(ctx, caName, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get the ConfigMap %s/%s: %w", caNamespace, caName, err)
	}
	pool := x509.NewCertPool()
	if text := m.Data[caKey]; text != "" && !pool.AppendCertsFromPEM([]byte(text)) {
		return errors.New("its " + caKey + " has no certificate")
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.clients = pool
	return nil
}

// certified returns the user of a client certificate, if the CA of the cluster has signed it. Like the API server, it
// takes the common name as user name, and the organizations as groups.
func (i *Identity) certified(chain []*x509.Certificate) (User, error) {
	i.mu.Lock()
	roots := i.clients
	i.mu.Unlock()
	if roots == nil {
		return User{}, away()
	}
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	options := x509.VerifyOptions{
		Roots: roots, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if _, err := chain[0].Verify(options); err != nil {
		return User{}, nobody("the client certificate is none of this cluster: " + err.Error())
	}
	name := chain[0].Subject.CommonName
	if name == "" {
		return User{}, nobody("the client certificate names no user: its common name is empty")
	}
	return User{Name: name, Groups: append(append([]string{}, chain[0].Subject.Organization...), groupAll)}.keyed(), nil
}
