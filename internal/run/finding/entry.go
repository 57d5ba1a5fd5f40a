package finding

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Namespace is the usual namespace of the reader, and Name the name of its ConfigMap there.
const (
	Namespace = "jobledger-reader"
	Name      = "jobledger-reader"
)

// The keys of the ConfigMap. The administrator writes the first three, the reader the others.
const (
	keyService   = "service"
	keyAddress   = "address"
	keyAddressCA = "address-ca.crt"

	keyCA    = "ca.crt"
	keyPod   = "pod"
	keyPort  = "port"
	keyBase  = "base-path"
	keySince = "since"
)

// systemCA as the value of Entry.AddressCA stands for the certificate authorities that the user's machine trusts.
const systemCA = "system"

// Entry says how users reach a reader: the content of its ConfigMap.
type Entry struct {
	Service   string    // name of the reader's Service; its certificate is for SERVICE.NAMESPACE.svc
	Address   *url.URL  // address for users; nil to use a port-forward
	AddressCA string    // CA of the certificate at Address, in PEM, or systemCA; empty if it is CA
	CA        string    // CA of the reader's own certificate, in PEM
	Pod       string    // pod in which the reader runs
	Port      int       // port of the reader in its pod
	Base      string    // path prefix of the reader's answers; empty for the root
	Since     time.Time // when the reader started; if two readers write, the one that started later wins
}

// errNotPublished is returned if the reader has not written its keys into the ConfigMap yet.
var errNotPublished = errors.New("the reader has not published yet how it is reached: it is starting, or runs without --publish")

// parse reads an Entry from the data of the ConfigMap.
func parse(data map[string]string) (e Entry, err error) {
	e = Entry{Service: data[keyService], AddressCA: data[keyAddressCA], CA: data[keyCA], Pod: data[keyPod], Base: data[keyBase]}
	e.Since, _ = time.Parse(time.RFC3339Nano, data[keySince]) // an Entry without a time counts as the oldest
	if text := data[keyAddress]; text != "" {
		e.Address, err = url.Parse(text)
		if err != nil || e.Address.Scheme != "https" || e.Address.Host == "" || e.Address.User != nil || e.Address.RawQuery != "" {
			return e, fmt.Errorf("%s: %q is not an address such as https://jobledger.example.com", keyAddress, text)
		}
		if e.AddressCA == "" && e.CA == "" {
			return e, errNotPublished
		}
		return e, nil
	}
	if e.CA == "" || e.Pod == "" {
		return e, errNotPublished
	}
	if wrong := validation.IsDNS1123Subdomain(e.Pod); len(wrong) > 0 {
		return e, fmt.Errorf("%s: %q is not the name of a pod", keyPod, e.Pod)
	}
	if e.Port, err = strconv.Atoi(data[keyPort]); err != nil || e.Port < 1 || e.Port > 65535 {
		return e, fmt.Errorf("%s: %q is not a port", keyPort, data[keyPort])
	}
	return e, nil
}

// published returns the keys of the ConfigMap that the reader writes.
func (e *Entry) published() map[string]string {
	return map[string]string{
		keyCA: e.CA, keyPod: e.Pod, keyPort: strconv.Itoa(e.Port), keyBase: e.Base,
		keySince: e.Since.UTC().Format(time.RFC3339Nano),
	}
}
