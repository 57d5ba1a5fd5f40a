package replicating

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/jobledger/jobledger/store/natslog/stream"
)

// MonitorFlag is the name of the flag with the monitoring addresses of the NATS servers; messages name it.
const MonitorFlag = "replicate-monitor"

// mostVarz limits the bytes that are read of a server's answer.
const mostVarz = 1 << 20

// varz has the fields of a NATS server's answer to /varz that are needed here.
type varz struct {
	Name      string `json:"server_name"`
	Version   string `json:"version"`
	JetStream struct {
		Config *struct {
			SyncAlways bool `json:"sync_always"`
		} `json:"config"`
	} `json:"jetstream"`
}

// CheckMonitor returns an error unless addresses is a valid, comma-separated list of monitoring addresses.
func CheckMonitor(addresses string) error {
	for _, one := range strings.Split(addresses, ",") {
		u, err := url.Parse(one)
		switch {
		case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
			return fmt.Errorf("%q is no address such as http://nats-0:8222", one)
		case u.User != nil || u.RawQuery != "" || u.Fragment != "":
			return errors.New("an address has nothing beside host, port and path")
		}
	}
	return nil
}

// monitors asks the NATS servers at their monitoring addresses whether they sync their disks.
type monitors struct {
	addresses []string
	client    *http.Client
}

// newMonitors returns the monitors for these addresses. ca is a file with the CA certificates for https addresses;
// empty for the system's.
func newMonitors(addresses []string, ca string) (monitors, error) {
	m := monitors{addresses: addresses, client: http.DefaultClient}
	if ca == "" || len(addresses) == 0 {
		return m, nil
	}
	text, err := os.ReadFile(ca)
	if err != nil {
		return m, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return m, fmt.Errorf("%s has no certificate (PEM)", ca)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	m.client = &http.Client{Transport: transport}
	return m, nil
}

// unsynced returns a sentence for each server of holders (those that store the stream) that does not sync its disk, or
// has no monitoring address. It returns an error if a server could not be checked because addresses do not answer. A
// server that is offline is checked when it is back.
func (m *monitors) unsynced(ctx context.Context, holders []string) (wrong []string, err error) {
	seen := map[string]varz{}
	var unanswered error
	for _, address := range m.addresses {
		v, err := m.read(ctx, address)
		if err != nil {
			unanswered = errors.Join(unanswered, err)
			continue
		}
		seen[v.Name] = v
	}
	for _, name := range holders {
		v, there := seen[name]
		switch {
		case !there && unanswered != nil:
			err = fmt.Errorf("whether server %s syncs is not known: %w", name, unanswered)
		case !there:
			wrong = append(wrong, fmt.Sprintf("server %s holds it, and no address of --%s is of that server", name, MonitorFlag))
		case v.JetStream.Config == nil || !v.JetStream.Config.SyncAlways:
			wrong = append(wrong, fmt.Sprintf("server %s does not sync what it stores, want sync_interval: always", name))
		case stream.Older(v.Version):
			wrong = append(wrong,
				fmt.Sprintf("server %s is nats-server %s, want %s or newer", name, v.Version, stream.LeastServer))
		}
	}
	return wrong, err
}

func (m *monitors) read(ctx context.Context, address string) (v varz, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("ask the NATS server at %s: %w", address, err)
		}
	}()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(address, "/")+"/varz", http.NoBody)
	if err != nil {
		return v, err
	}
	answer, err := m.client.Do(r)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	if answer.StatusCode != http.StatusOK {
		return v, fmt.Errorf("it answers %s", answer.Status)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, mostVarz))
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err == nil && v.Name == "" {
		err = errors.New("it does not say which server it is: give its monitoring address (http_port)")
	}
	return v, err
}
