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

// Reader is a process that answers many users (jobledger serve), and how one of them reaches it.
type Reader struct {
	Base      *url.URL          // of its pages; the questions are below /v1/
	Name      string            // for messages
	Transport http.RoundTripper // it adds the user's credentials
	Scope     string            // the namespace that requests for records are about; empty for all
	Close     func()            // ends the connections; may be nil
}

// NewReaderClient returns a client of a reader. It continues listings that the reader bounds.
func NewReaderClient(r *Reader) *Client {
	return &Client{base: r.Base, http: &http.Client{Transport: r.Transport}, who: "the reader " + r.Name, reader: r}
}

// OfReader reports whether a reader answers this client, for which the user's rights count.
func (c *Client) OfReader() bool { return c.reader != nil }

// scoped adds the scope to the parameters of a request for records. A question has its namespace among its own.
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

// hear passes on the notes of an answer.
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

// RefusedError: the reader refuses a request of this user.
type RefusedError struct {
	Reader string
	Says   string
}

// Error names the reader, and gives its words.
func (e *RefusedError) Error() string { return e.Reader + " refuses this: " + e.Says }

// refusal returns the error of an answer with another status than 200.
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

// inParts returns the records of a request, and asks again when an answer reached a bound.
func (c *Client) inParts(ctx context.Context, values url.Values) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		values := maps.Clone(values)
		limit, _ := strconv.Atoi(values.Get("limit")) // 0 without one
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

// pollEvery is the time between two requests for new records: a reader has no answers without an end.
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
				from = max(from, head.Sequence+1) // records that this user may not read are not asked for again
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

// Elsewhere returns the function by which a question of an ask.Source is asked at the reader; nil for a controller.
func (c *Client) Elsewhere(hears Hears) func(context.Context, ask.Remote) (bool, error) {
	if c.reader == nil {
		return nil
	}
	return func(ctx context.Context, q ask.Remote) (bool, error) { return c.answer(ctx, q, hears) }
}
