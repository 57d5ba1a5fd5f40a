package reader

import (
	"context"
	"errors"
	"net/http"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/page"
	"github.com/jobledger/jobledger/internal/read/permit"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/internal/wire/identity"
	"github.com/jobledger/jobledger/store"
)

// Log is the log from which the Reader answers.
type Log interface {
	// Open gives one request access to the log; the request closes it. d gets known damage of the log, and damage found
	// later; note gets sentences for the user. If the error has a method HTTPStatus, the answer has that status.
	Open(ctx context.Context, d *store.Damage, note func(string)) (Opened, error)
	// Run keeps the log usable until ctx ends, and then returns nil.
	Run(ctx context.Context) error
}

// Opened is a log as one request uses it. Close releases it.
type Opened struct {
	history.Source
	// NotListed returns why the controller cannot list the cluster; empty if it can. It is nil if there is no
	// controller to ask.
	NotListed func(context.Context) string
}

// question returns the log from which a question about a namespace is answered, limited to what the user may read.
func (r *Reader) question(q *http.Request, namespace string, told serve.Told) (ask.Source, func(), error) {
	src, _, err := r.source(q.Context(), page.About{Namespace: namespace}, told)
	if err != nil {
		return ask.Source{}, nil, err
	}
	return src, src.Close, nil
}

// page returns the log from which a page is made, limited to what the user may read. It checks the user's identity
// again on each call, because an open page calls it repeatedly to get new events.
func (r *Reader) page(q *http.Request, about page.About, d *store.Damage, note func(string)) (page.Given, error) {
	if _, err := r.who.User(q); err != nil {
		return page.Given{}, err
	}
	src, only, err := r.source(q.Context(), about, serve.Told{Damage: d, Note: note, Behind: func(string) {}})
	if err != nil {
		return page.Given{}, err
	}
	return page.Given{Source: src, Only: only, Done: src.Close}, nil
}

// source returns the log, limited to what the user of the request may read. If that is one namespace, only is its name.
func (r *Reader) source(
	ctx context.Context, about page.About, told serve.Told,
) (src ask.Source, only string, err error) {
	right, err := r.who.MayRead(ctx, userOf(ctx), about.Namespace)
	byRecord := about.Record != 0 && about.Namespace == "" && statusOf(err) == http.StatusForbidden
	if err != nil && !byRecord {
		return src, "", err
	}
	log, failed := r.config.Log.Open(ctx, told.Damage, told.Note)
	if failed != nil {
		return src, "", failed
	}
	if byRecord {
		if right, err = r.ofRecord(ctx, log, about.Record, err); err != nil {
			log.Close()
			return src, "", err
		}
	}
	src = ask.Source{
		Source: log, Note: told.Note, Behind: told.Behind, AsOf: told.AsOf, Clock: r.config.Clock, Damage: told.Damage,
	}
	if right.All {
		src.NotListed = log.NotListed
		return src, "", nil
	}
	part := permit.Namespace(log, permit.Right{Namespace: right.Namespace, Since: events.At(right.Since)})
	told.Note(part.Note())
	src.Source = part
	return src, right.Namespace, nil
}

// ofRecord returns the user's right to read the namespace to which the record at belongs. Without that right it returns
// refusal, which is the same error for every record.
func (r *Reader) ofRecord(
	ctx context.Context, log history.Source, at events.Sequence, refusal error,
) (identity.Right, error) {
	record, err := history.Record(ctx, log, at)
	var status interface{ HTTPStatus() int }
	switch {
	case errors.As(err, &status): // it says its status itself: for example, no controller answers
		return identity.Right{}, err
	case err != nil:
		return identity.Right{}, refusal
	}
	namespace := record.Evidence.Namespace
	if record.Stream.Kind == events.StreamNamespace {
		namespace = record.Stream.ID
	}
	if namespace == "" {
		names := history.NamesOf(ctx, log)
		namespace = names.Job(record.Stream).Namespace
	}
	if namespace == "" {
		return identity.Right{}, refusal
	}
	right, err := r.who.MayRead(ctx, userOf(ctx), namespace)
	if statusOf(err) == http.StatusForbidden {
		err = refusal
	}
	return right, err
}
