package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/storage"
)

// scraper reads the metrics of one target over HTTP, and stores them.
type scraper struct {
	url, instance string
	seen          map[uint64]labels.Labels // the time series of the last scrape
}

const job = "jobledger"

// scrape reads the target's metrics and stores them, with up = 1; if the target does not answer, it stores up = 0. It
// returns an error only if storing fails.
func (s *scraper) scrape(ctx context.Context, to storage.Appender, now time.Time) error {
	at := now.UnixMilli()
	text, kind, err := s.get(ctx)
	up := 1.0
	if err != nil {
		up, text = 0, nil
	}
	found := map[uint64]labels.Labels{}
	store := func(l labels.Labels, v float64) error {
		found[l.Hash()] = l
		_, err := to.Append(0, l, at, v)
		return err
	}
	if err := errors.Join(s.parse(text, kind, store), store(s.labels(labels.FromStrings(model.MetricNameLabel, "up")), up)); err != nil {
		return errors.Join(err, to.Rollback())
	}
	for hash, l := range s.seen {
		if _, ok := found[hash]; ok {
			continue
		}
		if _, err := to.Append(0, l, at, math.Float64frombits(value.StaleNaN)); err != nil {
			return errors.Join(err, to.Rollback())
		}
	}
	s.seen = found
	return to.Commit()
}

func (s *scraper) labels(of labels.Labels) labels.Labels {
	b := labels.NewBuilder(of)
	b.Set("job", job)
	b.Set("instance", s.instance)
	return b.Labels()
}

func (s *scraper) get(ctx context.Context) (text []byte, kind string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, "", err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, "", fmt.Errorf("%s: %s", s.url, answer.Status)
	}
	text, err = io.ReadAll(answer.Body)
	return text, answer.Header.Get("Content-Type"), err
}

func (s *scraper) parse(text []byte, kind string, store func(labels.Labels, float64) error) error {
	if len(text) == 0 {
		return nil
	}
	p, err := textparse.New(text, kind, labels.NewSymbolTable(), textparse.ParserOptions{FallbackContentType: "text/plain"})
	if err != nil {
		return err
	}
	for {
		entry, err := p.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case entry != textparse.EntrySeries:
			continue
		}
		var l labels.Labels
		p.Labels(&l)
		_, _, v := p.Series()
		if err := store(s.labels(l), v); err != nil {
			return err
		}
	}
}
