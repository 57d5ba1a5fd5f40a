package serve

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// AddressFile is the name of a file in the directory of a log. It contains the URL of the controller that writes the
// log.
const AddressFile = "SERVER"

// Client reads a log over HTTP, from a running controller (NewClient) or from a reader (NewReaderClient), which is a
// process that answers many users (jobledger serve). It is a history.Source.
type Client struct {
	// Damage collects damage of the log that answers name; it may be nil. Set it before the first request.
	Damage *store.Damage
	// Away returns the error to use in place of one that means that the controller does not answer, for example with a
	// hint. It may be nil. Set it before the first request.
	Away func(error) error
	// Note is called with remarks of a reader on the records that it sends; it may be nil. Set it before the first
	// request.
	Note func(string)

	base   *url.URL
	http   *http.Client
	who    string  // the server, as error messages name it
	reader *Reader // the reader that is asked; nil for a controller
}

var _ history.Source = (*Client)(nil)

// NewClient returns a client of the controller at address: a URL with scheme http, or "host:port". It returns an error
// for other addresses.
func NewClient(address string) (*Client, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	base, err := url.Parse(address)
	if err != nil || base.Scheme != "http" || base.Host == "" {
		return nil, fmt.Errorf("%q is not the address of a controller, such as http://127.0.0.1:10271", address)
	}
	// Use no proxy, unlike the default transport of package http.
	transport := &http.Transport{DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext}
	return &Client{base: base, http: &http.Client{Transport: transport}, who: "the controller at " + base.Host}, nil
}

// Noting returns a copy of the client that collects damage of the log in another place. The two share their
// connections.
func (c *Client) Noting(damage *store.Damage) *Client {
	other := *c
	other.Damage = damage
	return &other
}

// away returns the error to report if the controller did not answer, or its answer was cut: Away can replace it.
func (c *Client) away(err error) error {
	if c.Away == nil {
		return err
	}
	return c.Away(err)
}

// Info returns the identity of the controller's log, and its newest record.
func (c *Client) Info(ctx context.Context) (Info, error) {
	var info Info
	err := c.json(ctx, &info, nil, "v1", "log")
	return info, err
}

// Head implements history.Source: it returns the identity of the log, and its newest record.
func (c *Client) Head(ctx context.Context) (events.Identity, store.Head, error) {
	info, err := c.Info(ctx)
	if err != nil {
		return events.Identity{}, store.Head{}, err
	}
	head := store.Head{Sequence: info.Sequence, Time: events.Time(info.Time)}
	hash, err := hex.DecodeString(info.Hash)
	if err != nil {
		return events.Identity{}, store.Head{}, fmt.Errorf("read the head that the controller reports: %w", err)
	}
	copy(head.Hash[:], hash)
	return events.Identity{LogID: info.LogID, Epoch: info.Epoch}, head, nil
}

// Now implements history.Source: it returns the time by the controller's clock.
func (c *Client) Now(ctx context.Context) (events.Time, error) {
	info, err := c.Info(ctx)
	return events.Time(info.Now), err
}

// Read implements history.Source: it returns all records from record from on.
func (c *Client) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return c.records(ctx, url.Values{"from": {sequence(from)}})
}

// Follow implements history.Source: it returns all records from record from on, and waits for new ones at the end. If
// the controller stops, it ends with an error.
func (c *Client) Follow(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	if c.reader != nil {
		return c.poll(ctx, from)
	}
	records := c.records(ctx, url.Values{"from": {sequence(from)}, "follow": {"true"}})
	return func(yield func(events.Record, error) bool) {
		for r, err := range records {
			if err != nil && ctx.Err() != nil {
				return
			}
			if !yield(r, err) {
				return
			}
		}
		if ctx.Err() == nil {
			yield(events.Record{}, errors.New("the controller stopped"))
		}
	}
}

// ReadStream implements history.Source: it returns the records of one stream (one object), forward or backward.
// Backward, it requests pages of 16, 64, 256, 1024 and then 4096 records.
func (c *Client) ReadStream(ctx context.Context, s events.Stream, from events.Sequence, dir store.Direction) iter.Seq2[events.Record, error] {
	values := url.Values{"from": {sequence(from)}, "stream": {s.String()}}
	if dir == store.Forward {
		return c.records(ctx, values)
	}
	values.Set("direction", "backward")
	return func(yield func(events.Record, error) bool) {
		// A caller that reads backward usually finds soon what it searches, so the first pages are small.
		for limit := 16; ; limit = min(4*limit, 4096) {
			values.Set("limit", strconv.Itoa(limit))
			n, before := 0, events.Sequence(0)
			for r, err := range c.records(ctx, values) {
				if n++; !yield(r, err) || err != nil {
					return
				}
				before = r.Previous
			}
			if n < limit || before == 0 {
				return
			}
			values.Set("from", sequence(before))
		}
	}
}

// Find implements history.Source: it returns the streams (records) of the Jobs and CronJobs with a name.
func (c *Client) Find(ctx context.Context, namespace, name string) ([]events.Stream, error) {
	var names []string
	unread := c.json(ctx, &names, nil, "v1", "streams", namespace, name)
	if unread != nil && !damaged(unread) {
		return nil, unread
	}
	var out []events.Stream
	for _, n := range names {
		s, err := ParseStream(n)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, unread
}

// Records implements history.Source: it returns the records that a query selects.
func (c *Client) Records(ctx context.Context, q history.Query) iter.Seq2[events.Record, error] {
	return c.records(ctx, queryValues(&q))
}

// Beside implements history.Source: it reports whether err is only damage of the log, which the answer can name, and
// notes the damage.
func (c *Client) Beside(err error) bool {
	c.Damage.Note(err)
	return damaged(err)
}

// Close implements history.Source: it closes the connections to the server.
func (c *Client) Close() {
	c.http.CloseIdleConnections()
	if c.reader != nil && c.reader.Close != nil {
		c.reader.Close()
	}
}

func sequence(s events.Sequence) string { return strconv.FormatUint(uint64(s), 10) }

func (c *Client) get(ctx context.Context, accept string, values url.Values, path ...string) (*http.Response, error) {
	escaped := make([]string, len(path))
	for i, p := range path {
		escaped[i] = url.PathEscape(p)
	}
	u := c.base.JoinPath(escaped...)
	u.RawQuery = c.scoped(values, path).Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", accept)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.away(fmt.Errorf("ask %s: %w", c.who, cause(err)))
	}
	if resp.StatusCode == http.StatusOK {
		c.hear(resp.Header)
		return resp, nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if c.reader != nil {
		err = c.refusal(resp, text)
	} else {
		err = fmt.Errorf("ask %s: %s: %w", c.who, resp.Status, parseError(strings.TrimSpace(string(text))))
	}
	c.Damage.Note(err)
	return nil, err
}

// cause removes from err the method and URL that package http has added.
func cause(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// json requests path with the given parameters, and decodes the answer into into. If the log is damaged, the error is
// store.ErrCorrupt, and into has what could be read.
func (c *Client) json(ctx context.Context, into any, values url.Values, path ...string) error {
	resp, err := c.get(ctx, "application/json", values, path...)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		return fmt.Errorf("read the answer of %s: %w", c.who, err)
	}
	beside := errors.Join(damageOf(resp.Header).Met()...)
	c.Damage.Note(beside)
	return beside
}

// records requests records, and returns them one by one. It joins the answers if a reader cuts them.
func (c *Client) records(ctx context.Context, values url.Values) iter.Seq2[events.Record, error] {
	if c.reader != nil {
		return c.inParts(ctx, values)
	}
	return c.part(ctx, values)
}

// part returns the records in one response, one by one.
func (c *Client) part(ctx context.Context, values url.Values) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		ctx, cancel := context.WithCancel(ctx) // if the caller stops early, cancel ends the request
		defer cancel()
		resp, err := c.get(ctx, framesType, values, "v1", "records")
		if err != nil {
			yield(events.Record{}, err)
			return
		}
		defer resp.Body.Close()
		in := bufio.NewReaderSize(resp.Body, 64<<10)
		for {
			r, err := readFrame(in)
			c.Damage.Note(err)
			if beside := (*besideError)(nil); errors.As(err, &beside) {
				continue
			}
			if errors.Is(err, io.EOF) && !errors.Is(err, errCut) {
				return
			}
			if errors.Is(err, errCut) {
				err = c.away(err)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}
