package feed

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Client reads records from the controllers behind one URL. Make it with NewClient.
type Client struct {
	name    string // the host of the URL, for which certificates must be valid
	port    string
	token   func() (string, error)
	lookup  func(ctx context.Context, host string) ([]string, error)
	http    *http.Client
	connect *http.Transport
}

// NewClient returns a client for the controllers at a URL such as https://jobledger.jobledger:10272. Each IP address of
// the host is one controller. Their certificates must be valid for that host, and are checked against authorities; nil
// stands for the system's. token is called for each request, because token files of ServiceAccounts change.
func NewClient(address string, authorities *x509.CertPool, token func() (string, error)) (*Client, error) {
	base, err := url.Parse(address)
	if err != nil || base.Scheme != "https" || base.Hostname() == "" || strings.Trim(base.Path, "/") != "" {
		return nil, fmt.Errorf("%q is not the URL of controllers, such as https://jobledger.jobledger:10272", address)
	}
	port := base.Port()
	if port == "" {
		port = "443"
	}
	transport := &http.Transport{ // Proxy is nil: the requests go directly to the controllers
		DialContext:     (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: authorities, ServerName: base.Hostname()},
		IdleConnTimeout: 30 * time.Second,
	}
	return &Client{
		name: base.Hostname(), port: port, token: token, lookup: net.DefaultResolver.LookupHost,
		http: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		connect: transport,
	}, nil
}

// Addresses returns the host:port of each controller, found by DNS.
func (c *Client) Addresses(ctx context.Context) ([]string, error) {
	hosts, err := c.lookup(ctx, c.name)
	if err != nil {
		return nil, fmt.Errorf("find the controllers at %s: %w", c.name, err)
	}
	for i, host := range hosts {
		hosts[i] = net.JoinHostPort(host, c.port)
	}
	return hosts, nil
}

// Head asks one controller which log it has, and which record is the newest.
func (c *Client) Head(ctx context.Context, address string) (h Head, err error) {
	body, err := c.get(ctx, address, HeadPath, nil)
	if err != nil {
		return h, err
	}
	defer body.Close()
	if err := json.NewDecoder(io.LimitReader(body, 64<<10)).Decode(&h); err != nil {
		return h, fmt.Errorf("read the answer of the controller at %s: %w", address, err)
	}
	return h, nil
}

// Records asks one controller for whole batches from record from on; 0 stands for the oldest record that it has. before
// is the hash of the caller's records before from; it is ignored if from is 0. It returns store.ErrPruned if the
// controller has deleted the records, and store.ErrDiverged if the controller's records before them differ from the
// caller's.
func (c *Client) Records(ctx context.Context, address string, from events.Sequence, before events.Hash) (*Part, error) {
	return c.records(ctx, address, from, before, url.Values{})
}

// Follow asks one controller for whole batches from record from on, for a process that copies the log and may lead
// next; name is that process's. The request tells the controller that this process has all records before from on disk.
// If there is no new record, the controller waits for one, for up to a second, before it answers. Errors are those of
// Records.
func (c *Client) Follow(
	ctx context.Context, address, name string, from events.Sequence, before events.Hash,
) (*Part, error) {
	return c.records(ctx, address, from, before, url.Values{followerParameter: {name}, waitParameter: {""}})
}

// Chain asks one controller for the hash of all its records through record at. It returns store.ErrPruned if the
// controller no longer has it.
func (c *Client) Chain(ctx context.Context, address string, at events.Sequence) (hash events.Hash, err error) {
	body, err := c.get(ctx, address, ChainPath, url.Values{"at": {strconv.FormatUint(uint64(at), 10)}})
	if err != nil {
		return hash, err
	}
	defer body.Close()
	var p Place
	if err = json.NewDecoder(io.LimitReader(body, 64<<10)).Decode(&p); err == nil {
		var value []byte
		if value, err = hex.DecodeString(p.Hash); err == nil && copy(hash[:], value) != len(hash) {
			err = ErrCut
		}
	}
	if err != nil {
		return hash, fmt.Errorf("read the answer of the controller at %s: %w", address, err)
	}
	return hash, nil
}

func (c *Client) records(
	ctx context.Context, address string, from events.Sequence, before events.Hash, values url.Values,
) (*Part, error) {
	if from != 0 {
		values.Set("from", strconv.FormatUint(uint64(from), 10))
	}
	body, err := c.get(ctx, address, RecordsPath, values)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	t := taking{in: bufio.NewReaderSize(body, 64<<10), next: from, hash: before}
	if err := t.all(); err != nil {
		return nil, fmt.Errorf("read the answer of the controller at %s: %w", address, err)
	}
	return &t.part, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.connect.CloseIdleConnections() }

func (c *Client) get(ctx context.Context, address, path string, values url.Values) (io.ReadCloser, error) {
	u := url.URL{Scheme: "https", Host: address, Path: path, RawQuery: values.Encode()}
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	token, err := c.token()
	if err != nil {
		return nil, fmt.Errorf("read the token for the controllers: %w", err)
	}
	q.Header.Set("Authorization", "Bearer "+token)
	resp, err := c.http.Do(q)
	if err != nil {
		var without *url.Error // unwrapped, because its text repeats method and URL
		if errors.As(err, &without) {
			err = without.Err
		}
		return nil, fmt.Errorf("ask the controller at %s: %w", address, err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10)) // after an error, the message has the text so far
	err = fmt.Errorf("ask the controller at %s: %s: %s", address, resp.Status, strings.TrimSpace(string(text)))
	if resp.StatusCode == http.StatusGone {
		err = fmt.Errorf("%w (%w)", err, store.ErrPruned)
	}
	return nil, err
}

// taking is the state while an answer with records (a part) is being received.
type taking struct {
	in   *bufio.Reader
	part Part
	next events.Sequence // number of the next record
	hash events.Hash     // hash of all records before the next one
	file bool            // the next record is the first one of a file
	open bool            // the batch of the last record is not complete yet
}

func (t *taking) all() error {
	for {
		kind, body, err := nextFrame(t.in)
		if err != nil {
			return err
		}
		switch kind {
		case frameHead:
			err = json.Unmarshal(body, &t.part.Head)
		case frameBegin:
			err = t.begin(body)
		case frameFile:
			t.file = true
		case frameRecord:
			err = t.record(body)
		case frameEnd:
			return t.end(body)
		default:
			err = fmt.Errorf("it has a frame of type %q: is the controller of another version?", kind)
		}
		if err != nil {
			return err
		}
	}
}

// begin reads a 'B' frame: the hash of all records before the log's first one, and the header of its first file.
func (t *taking) begin(body []byte) error {
	if copy(t.hash[:], body) != len(t.hash) {
		return ErrCut
	}
	t.part.Begin = body[len(t.hash):]
	return nil
}

// record checks a received record, and adds it to the records of its file.
func (t *taking) record(stored []byte) error {
	l, err := events.DecodeLabel(stored)
	switch {
	case err != nil:
		return err
	case t.part.Begin != nil && len(t.part.Runs) == 0:
		t.next, t.file = l.Sequence, true
	case l.Sequence != t.next:
		return fmt.Errorf("record %d came, and not %d", l.Sequence, t.next)
	}
	if t.file && t.open {
		return fmt.Errorf("a file begins with record %d, within a batch", l.Sequence)
	}
	if t.file || len(t.part.Runs) == 0 {
		t.part.Runs = append(t.part.Runs, Run{First: l.Sequence, BeginsFile: t.file})
	}
	run := &t.part.Runs[len(t.part.Runs)-1]
	if t.hash, err = t.hash.Next(stored); err != nil {
		return err
	}
	run.Records, run.After = append(run.Records, stored), t.hash
	t.next, t.file, t.open = l.Sequence+1, false, !l.Last
	return nil
}

// end reads the last frame: it checks that the answer is complete, and that the hash of the received records is the
// controller's.
func (t *taking) end(body []byte) error {
	// If the controller does not have the record before the requested one, it sent no hash to compare with.
	ahead := t.next > 0 && t.next-1 > t.part.Head.Sequence
	switch {
	case t.open:
		return fmt.Errorf("%w: record %d ends no batch", ErrCut, t.next-1)
	case !ahead && string(body) != string(t.hash[:]):
		return fmt.Errorf("%w: the chain value behind record %d is another one there", store.ErrDiverged, t.next-1)
	}
	return nil
}
