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

// Reader says how one user reaches a reader: a process that answers many users (jobledger serve).
type Reader struct {
	Base      *url.URL          // URL of the reader's pages; questions are below it, at v1/
	Name      string            // name of the reader in messages
	Transport http.RoundTripper // sends requests, with the user's credentials
	Scope     string            // namespace whose records are requested; empty for all
	Close     func()            // closes the connections; may be nil
}

// NewReaderClient returns a client of a reader (jobledger serve). If the reader cuts a list of records at a limit, the
// client asks for the rest.
func NewReaderClient(r *Reader) *Client {
	return &Client{base: r.Base, http: &http.Client{Transport: r.Transport}, who: "the reader " + r.Name, reader: r}
}

// OfReader reports whether the client asks a reader, which shows only what the user may read.
func (c *Client) OfReader() bool { return c.reader != nil }

// scoped adds the namespace that the user may read (Reader.Scope) to the parameters of a request for records. A
// question already has a parameter for it.
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

// hear calls Note with the remarks in the headers of a response.
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

// RefusedError is the error if the reader refuses a request, because this user may not read that or asks too much.
type RefusedError struct {
	Reader string
	Says   string
}

// Error returns the name of the reader, and the text of its refusal.
func (e *RefusedError) Error() string { return e.Reader + " refuses this: " + e.Says }

// refusal returns the error for a response whose status is not 200. text is the body.
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

// inParts requests records, and returns them one by one. If the reader cuts its answer at a limit, it asks for the
// rest.
func (c *Client) inParts(ctx context.Context, values url.Values) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		values := maps.Clone(values)
		limit, _ := strconv.Atoi(values.Get("limit")) // 0 (no limit) if it is missing
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

// pollEvery is the time between two requests for new records. The client asks again and again, because a reader cannot
// send new records in one long answer.
const pollEvery = time.Second

// poll returns records one by one. At the end of the log it asks for new ones each second, until ctx ends.
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
				// Records up to head that were not sent are not for this user: skip them.
				from = max(from, head.Sequence+1)
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

// Elsewhere returns the function for ask.Source.Elsewhere that sends questions to the reader. If the client asks a
// controller, it returns nil: questions are then answered in this process.
func (c *Client) Elsewhere(hears Hears) func(context.Context, ask.Remote) (bool, error) {
	if c.reader == nil {
		return nil
	}
	return func(ctx context.Context, q ask.Remote) (bool, error) { return c.answer(ctx, q, hears) }
}
