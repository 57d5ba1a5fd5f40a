package serve

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// queryValues returns the URL parameters of GET /v1/records that select the same records as q.
func queryValues(q *history.Query) url.Values {
	v := url.Values{"from": {sequence(q.From)}}
	if q.Stream != nil {
		v.Set("stream", q.Stream.String())
	}
	if q.Through != 0 {
		v.Set("through", sequence(q.Through))
	}
	setTime(v, "since", q.Since)
	setTime(v, "until", q.Until)
	for _, k := range q.Kinds {
		v.Add("kind", k.String())
	}
	if q.Namespace != "" {
		v.Set("namespace", q.Namespace)
	}
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	return v
}

// setList sets the flags of a question for a list. texts has values by flag; states and since are the fields of a
// query.
func setList(to *pflag.FlagSet, texts map[string]string, states []string, since events.Time) error {
	texts["since"] = ""
	if since != 0 {
		texts["since"] = recordjson.Stamp(since)
	}
	for name, text := range texts {
		if text == "" {
			continue
		}
		if err := to.Set(name, text); err != nil {
			return fmt.Errorf("%s=%q: %w", name, text, err)
		}
	}
	for _, s := range states {
		if err := to.Set("state", s); err != nil {
			return fmt.Errorf("state=%q: %w", s, err)
		}
	}
	return nil
}

// page asks for one page of a list. more is the token of the page; empty for the first. most is the largest number of
// objects; 0 for a page of the largest size.
func page[A any](ctx context.Context, c *Client, q *ask.Asked[A], more string, most int) (*A, error) {
	size := ask.MaxPage
	if most > 0 {
		size = min(most, ask.MaxPage)
	}
	if err := setList(q.Flags, map[string]string{"continue": more, "limit": strconv.Itoa(size)}, nil, 0); err != nil {
		return nil, err
	}
	if err := q.Read(nil); err != nil {
		return nil, err
	}
	return Ask(ctx, c, q, Hears{Note: func(string) {}, Behind: func(string) {}, Read: func(uint64) {}})
}

// Jobs implements history.Source: it returns the Jobs that a query selects. It requests pages until it has as many as
// the limit of the query; if the limit is 0, all pages.
func (c *Client) Jobs(ctx context.Context, q history.JobsQuery) (history.JobsPage, error) {
	all := history.JobsPage{Items: []history.Summary{}}
	asked := ask.Jobs.New()
	texts := map[string]string{"namespace": q.Namespace, "name": q.Name, "uid": q.UID}
	if q.Labels != nil {
		texts["selector"] = q.Labels.String()
	}
	if err := setList(asked.Flags, texts, textsOf(q.States), q.Since); err != nil {
		return all, err
	}
	var unread error // damage of the log that was met so far: the pages lack what it hides
	for all.Continue = q.Continue; ; {
		next, err := page(ctx, c, asked, all.Continue, q.Limit-len(all.Items))
		switch {
		case next == nil && !(damaged(err) && len(all.Items) > 0):
			return all, listError(err)
		case err != nil:
			unread = err
		}
		if next == nil {
			all.Continue = ""
			return all, unread
		}
		all.Items, all.Continue, all.PrunedBefore = append(all.Items, next.Items...), next.Continue, next.PrunedBefore
		if left := q.Limit - len(all.Items); next.Continue == "" || q.Limit != 0 && left <= 0 {
			return all, unread
		}
	}
}

// CronJobs implements history.Source: it returns the CronJobs that a query selects, from as many pages as needed.
func (c *Client) CronJobs(ctx context.Context, q history.CronJobsQuery) (history.CronJobsPage, error) {
	all := history.CronJobsPage{Items: []history.CronSummary{}}
	asked := ask.CronJobs.New()
	texts := map[string]string{"namespace": q.Namespace, "name": q.Name, "uid": q.UID}
	if err := setList(asked.Flags, texts, textsOf(q.States), q.Since); err != nil {
		return all, err
	}
	var unread error
	for all.Continue = q.Continue; ; {
		next, err := page(ctx, c, asked, all.Continue, q.Limit-len(all.Items))
		switch {
		case next == nil && !(damaged(err) && len(all.Items) > 0):
			return all, listError(err)
		case err != nil:
			unread = err
		}
		if next == nil {
			all.Continue = ""
			return all, unread
		}
		all.Items, all.Continue, all.PrunedBefore = append(all.Items, next.Items...), next.Continue, next.PrunedBefore
		if left := q.Limit - len(all.Items); next.Continue == "" || q.Limit != 0 && left <= 0 {
			return all, unread
		}
	}
}

func textsOf[S ~string](all []S) (out []string) {
	for _, s := range all {
		out = append(out, string(s))
	}
	return out
}

// listError returns history.ErrQuery in place of the error for an invalid token of a page. A Source must do so.
func listError(err error) error {
	var wrong *which.WrongError
	if errors.As(err, &wrong) && strings.HasPrefix(wrong.Error(), "--continue: ") {
		return fmt.Errorf("%w: %s", history.ErrQuery, strings.TrimPrefix(wrong.Error(), "--continue: "+history.ErrQuery.Error()+": "))
	}
	return err
}

func parseInstant(text string) (events.Time, error) {
	var t recordjson.Instant
	err := t.UnmarshalText([]byte(text))
	return events.Time(t), err
}

func setTime(v url.Values, name string, t events.Time) {
	if t != 0 {
		v.Set(name, recordjson.Stamp(t))
	}
}
