package serve

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// queryValues are the parameters of a request for those records.
func queryValues(q *history.Query) url.Values {
	v := url.Values{"from": {sequence(q.From)}}
	if q.Stream != nil {
		v.Set("stream", q.Stream.String())
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

// jobsValues are the parameters of a request for those Jobs.
func jobsValues(q *history.JobsQuery) url.Values {
	v := url.Values{}
	if q.Namespace != "" {
		v.Set("namespace", q.Namespace)
	}
	for _, s := range q.States {
		v.Add("state", string(s))
	}
	for name, text := range map[string]string{"name": q.Name, "uid": q.UID} {
		if text != "" {
			v.Set(name, text)
		}
	}
	if q.Labels != nil {
		v.Set("labels", q.Labels.String())
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
func parseJobsQuery(values url.Values) (q history.JobsQuery, err error) {
	q.Limit = usualPage
	for name, texts := range values {
		text := texts[0]
		switch name {
		case "namespace":
			q.Namespace = text
		case "state":
			for _, s := range texts {
				q.States = append(q.States, history.State(s))
			}
		case "name":
			q.Name = text
		case "uid":
			q.UID = text
		case "labels":
			q.Labels, err = labels.Parse(text)
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
	var t recordjson.Instant
	err := t.UnmarshalText([]byte(text))
	return events.Time(t), err
}

func setTime(v url.Values, name string, t events.Time) {
	if t != 0 {
		v.Set(name, recordjson.Stamp(t))
	}
}
