package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/jobledger/jobledger/internal/read/history"
)

// cronJobsValues are the parameters of a request for those CronJobs.
func cronJobsValues(q *history.CronJobsQuery) url.Values {
	v := url.Values{}
	for _, s := range q.States {
		v.Add("state", string(s))
	}
	for name, text := range map[string]string{"namespace": q.Namespace, "name": q.Name, "uid": q.UID, "continue": q.Continue} {
		if text != "" {
			v.Set(name, text)
		}
	}
	setTime(v, "since", q.Since)
	limit := maxPage
	if q.Limit > 0 {
		limit = min(q.Limit, maxPage)
	}
	v.Set("limit", strconv.Itoa(limit))
	return v
}

// parseCronJobsQuery reads the parameters of a request for CronJobs.
func parseCronJobsQuery(values url.Values) (q history.CronJobsQuery, err error) {
	q.Limit = usualPage
	for name, texts := range values {
		text := texts[0]
		switch name {
		case "namespace":
			q.Namespace = text
		case "state":
			for _, s := range texts {
				q.States = append(q.States, history.CronState(s))
			}
		case "name":
			q.Name = text
		case "uid":
			q.UID = text
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

func (e *endpoint) cronJobs(w http.ResponseWriter, r *http.Request) {
	q, err := parseCronJobsQuery(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	damage := e.known()
	page, err := e.beside(damage).CronJobs(r.Context(), q)
	if damage.Note(err); err != nil && !damaged(err) {
		fail(w, err)
		return
	}
	writeBeside(w, page, damage)
}

func (e *endpoint) cronJob(w http.ResponseWriter, r *http.Request) {
	at, err := atOf(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	damage := e.known()
	log := e.beside(damage)
	streams, err := history.FindCronJobs(r.Context(), log, r.PathValue("namespace"), r.PathValue("name"))
	if err == nil && len(streams) == 0 {
		err = history.ErrNoCronJob
	}
	if len(streams) == 0 {
		fail(w, err)
		return
	}
	job, err := history.CronJobAt(r.Context(), log, streams[0], at)
	if err != nil && !(damaged(err) && job.UID != "") {
		fail(w, err)
		return
	}
	writeBeside(w, job, damage)
}

// CronJobs is described by Source. A page that is to have no limit is put together of some.
func (c *Client) CronJobs(ctx context.Context, q history.CronJobsQuery) (history.CronJobsPage, error) {
	all := history.CronJobsPage{Items: []history.CronSummary{}}
	var unread error // what is damaged: the pages are what can be read
	for {
		var page history.CronJobsPage
		if err := c.json(ctx, &page, cronJobsValues(&q), "v1", "cronjobs"); damaged(err) {
			unread = err
		} else if err != nil {
			return all, err
		}
		all.Items, all.Continue, all.PrunedBefore = append(all.Items, page.Items...), page.Continue, page.PrunedBefore
		if left := q.Limit - len(all.Items); page.Continue == "" || q.Limit != 0 && left <= 0 {
			return all, unread
		}
		q.Continue = page.Continue
	}
}
