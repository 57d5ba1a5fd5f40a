package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
)

// Reader describes a reader (jobledger serve, which answers many users), and how one user reaches it.
type Reader struct {
	Base      *url.URL          // URL of its pages; the questions are below /v1/
	Name      string            // its name in messages
	Transport http.RoundTripper // adds the user's credentials
	Scope     string            // namespace whose records are requested; empty for all
	Close     func()            // closes the connections; may be nil
}

// NewReaderClient returns a client of a reader. If the reader cuts a listing, the client asks for the rest.
func NewReaderClient(r *Reader) *Client {
	return &Client{base: r.Base, http: &http.Client{Transport: r.Transport}, who: "the reader " + r.Name, reader: r}
}

// OfReader reports whether the client asks a reader, which shows only what the user may read.
func (c *Client) OfReader() bool { return c.reader != nil }

// scoped adds the namespace (Reader.Scope) to the parameters of a request for records. A question has its own parameter
// for the namespace.
func (c *Client) scoped(values url.Values, path []string) url.Values {
	if c.reader == nil || c.reader.Scope == "" || len(path) < 2 || path[1] != "log" && path[1] != "records" {
		return values
	}
	out := maps.Clone(values)
	if out == nil {
		out = url.Values{}
	}
	out.Set(scopeParam, c.reader.Scope)
	return out
}

// hear passes the remarks in the headers of a response to Note.
func (c *Client) hear(h http.Header) {
	if c.Note == nil {
		return
	}
	for _, quoted := range h.Values(noteHeader) {
		if text, err := strconv.Unquote(quoted); err == nil {
			c.Note(text)
		}
	}
}

// RefusedError is returned if the reader refuses a request of this user.
type RefusedError struct {
	Reader string
	Says   string
}

// Error returns the name of the reader, and its own text.
func (e *RefusedError) Error() string { return e.Reader + " refuses this: " + e.Says }

// refusal returns the error for a response whose status is not 200.
func (c *Client) refusal(resp *http.Response, text []byte) error {
	says := strings.TrimSpace(string(text))
	var said struct{ Error string }
	var err error
	if json.Unmarshal(text, &said) == nil && said.Error != "" {
		err = errors.New(said.Error)
	} else {
		err = parseError(says)
	}
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		return &RefusedError{Reader: c.who, Says: err.Error()}
	}
	return fmt.Errorf("ask %s: %s: %w", c.who, resp.Status, err)
}

// inParts returns the records that answer a request. If the reader cuts the answer, it asks for the rest.
func (c *Client) inParts(ctx context.Context, values url.Values) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		values := maps.Clone(values)
		limit, _ := strconv.Atoi(values.Get("limit")) // 0 if there is no limit
		backward := values.Get("direction") == "backward"
		for more := true; more; {
			more = false
			for r, err := range c.part(ctx, values) {
				if more = errors.Is(err, errMore); more {
					break
				}
				if !yield(r, err) || err != nil {
					return
				}
				next := r.Sequence + 1
				if backward {
					next = r.Previous
				}
				values.Set("from", sequence(next))
				if limit > 1 {
					limit--
					values.Set("limit", strconv.Itoa(limit))
				}
			}
		}
	}
}

// pollEvery is the time between two requests for new records. A client polls because a reader does not follow the log
// for it.
const pollEvery = time.Second

// poll returns records, and asks for new ones until ctx ends.
func (c *Client) poll(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		tick := time.NewTicker(pollEvery)
		defer tick.Stop()
		for {
			_, head, err := c.Head(ctx)
			if err == nil && head.Sequence >= from {
				for r, err := range c.records(ctx, url.Values{"from": {sequence(from)}}) {
					if ctx.Err() != nil || !yield(r, err) || err != nil {
						return
					}
					from = r.Sequence + 1
				}
				from = max(from, head.Sequence+1) // do not ask again for records that this user may not read
			}
			if ctx.Err() != nil || err != nil && !yield(events.Record{}, err) || err != nil {
				return
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}
}

// Elsewhere returns a function for ask.Source.Elsewhere, which asks questions at the reader. It returns nil if the
// client asks a controller.
func (c *Client) Elsewhere(hears Hears) func(context.Context, ask.Remote) (bool, error) {
	if c.reader == nil {
		return nil
	}
	return func(ctx context.Context, q ask.Remote) (bool, error) { return c.answer(ctx, q, hears) }
}
