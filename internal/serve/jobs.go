package serve

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/joblist"
	"github.com/jobledger/jobledger/internal/show"
)

// JobsQuery says which Jobs are wanted, and how many. The zero JobsQuery wants all.
type JobsQuery struct {
	Namespace string       // empty for all
	States    []show.State // none for all
	Since     events.Time  // those that have a record from this time on
	Limit     int          // of a page; 0 for no limit
	Continue  string       // JobsPage.Continue of the page before
}

// values are the parameters of a request for them.
func (q *JobsQuery) values() url.Values {
	v := url.Values{}
	if q.Namespace != "" {
		v.Set("namespace", q.Namespace)
	}
	for _, s := range q.States {
		v.Add("state", string(s))
	}
	setTime(v, "since", q.Since)
	limit := maxPage
	if q.Limit > 0 {
		limit = min(q.Limit, maxPage)
	}
	v.Set("limit", strconv.Itoa(limit))
	if q.Continue != "" {
		v.Set("continue", q.Continue)
	}
	return v
}

// The Jobs of one answer: so many, unless the request asks for another number; and no more than that.
const (
	usualPage = 500
	maxPage   = 5000
)

// parseJobsQuery reads the parameters of a request for Jobs.
func parseJobsQuery(values url.Values) (q JobsQuery, err error) {
	q.Limit = usualPage
	for name, texts := range values {
		text := texts[0]
		switch name {
		case "namespace":
			q.Namespace = text
		case "state":
			for _, s := range texts {
				q.States = append(q.States, show.State(s))
			}
		case "since":
			q.Since, err = parseInstant(text)
		case "limit":
			if q.Limit, err = strconv.Atoi(text); err == nil && (q.Limit < 1 || q.Limit > maxPage) {
				err = fmt.Errorf("from 1 to %d", maxPage)
			}
		case "continue":
			q.Continue = text
		default:
			err = errors.New("there is no such parameter")
		}
		if err != nil {
			return q, fmt.Errorf("%s=%q: %w", name, text, err)
		}
	}
	return q, nil
}

func parseInstant(text string) (events.Time, error) {
	var t show.Instant
	err := t.UnmarshalText([]byte(text))
	return events.Time(t), err
}

// JobsPage is a part of the Jobs that are wanted, the newest first: those whose first record is the newest. Its JSON changes only by
// growing.
type JobsPage struct {
	Items    []show.Summary `json:"items"`
	Continue string         `json:"continue,omitempty"` // what the next page is asked for with; absent when there is none
}

// ErrQuery: what was asked for makes no sense.
var ErrQuery = errors.New("there is no such page")

// Jobs is described by Source.
func (l Local) Jobs(ctx context.Context, q JobsQuery) (JobsPage, error) {
	wanted := joblist.Query{Namespace: q.Namespace, States: q.States, Limit: q.Limit}
	if q.Continue != "" {
		at, err := strconv.ParseUint(q.Continue, 10, 64)
		if err != nil || at == 0 {
			return JobsPage{}, fmt.Errorf("%w: %q is not where a page of Jobs ended", ErrQuery, q.Continue)
		}
		wanted.Before = events.Sequence(at)
	}
	if q.Since != 0 {
		since, err := l.firstAt(ctx, q.Since)
		if err != nil {
			return JobsPage{}, err
		}
		wanted.Since = since
	}
	lists := l.Lists
	if lists == nil {
		lists = joblist.New(joblist.Config{Log: l.Log})
	}
	page, err := lists.Page(ctx, wanted)
	out := JobsPage{Items: page.Jobs}
	if page.Next != 0 {
		out.Continue = strconv.FormatUint(uint64(page.Next), 10)
	}
	return out, err
}

// firstAt is the first record that is not older than a time; the one behind the last when all are.
func (l Local) firstAt(ctx context.Context, t events.Time) (events.Sequence, error) {
	spans, err := l.spans(ctx, 0, t, 0)
	if err != nil {
		return 0, err
	}
	if len(spans) == 0 {
		return l.Log.Head().Sequence + 1, nil
	}
	return spans[0].from, nil
}
