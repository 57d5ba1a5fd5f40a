package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/tsdb"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "alertwatch:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	file := flag.String("rules", "", "rule file")
	target := flag.String("target", "", "URL of the metrics")
	dir := flag.String("dir", "", "directory for the samples")
	every := flag.Duration("every", 5*time.Second, "how often to scrape and to evaluate")
	flag.Parse()
	parse := parser.NewParser(parser.Options{})
	alerts, err := load(*file, parse)
	if err != nil {
		return err
	}
	db, err := tsdb.Open(*dir, nil, nil, tsdb.DefaultOptions(), nil)
	if err != nil {
		return err
	}
	address, err := url.Parse(*target)
	if err != nil {
		return err
	}
	w := &watch{
		alerts: alerts, out: json.NewEncoder(os.Stdout), states: map[string]string{},
		scraper: scraper{url: *target, instance: address.Host, seen: map[uint64]labels.Labels{}},
		query:   rules.EngineQueryFunc(promql.NewEngine(promql.EngineOpts{MaxSamples: 50_000_000, Timeout: time.Minute, Parser: parse}), db),
	}
	tick := time.NewTicker(*every)
	defer tick.Stop()
	for {
		now := time.Now()
		if err := w.scraper.scrape(ctx, db.Appender(ctx), now); err != nil {
			return errors.Join(err, db.Close())
		}
		if err := w.evaluate(ctx, now); err != nil && ctx.Err() == nil {
			return errors.Join(err, db.Close())
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return db.Close()
		}
	}
}

// load returns the alerts of a rule file.
func load(file string, parse parser.Parser) (all []*rules.AlertingRule, err error) {
	groups, errs := rulefmt.ParseFile(file, false, model.UTF8Validation, parse, slog.Default())
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	for _, group := range groups.Groups {
		for _, r := range group.Rules {
			expr, err := parse.ParseExpr(r.Expr)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.Alert, err)
			}
			all = append(all, rules.NewAlertingRule(r.Alert, expr, time.Duration(r.For), time.Duration(r.KeepFiringFor),
				labels.FromMap(r.Labels), labels.FromMap(r.Annotations), labels.EmptyLabels(), "", true, slog.Default()))
		}
	}
	return all, nil
}

// watch evaluates alerts from time to time, and reports each change of an alert's state.
type watch struct {
	alerts  []*rules.AlertingRule
	scraper scraper
	query   rules.QueryFunc
	out     *json.Encoder
	states  map[string]string // state of each pending or firing alert, by name and labels
}

// change is a line of output. State is pending, firing or inactive.
type change struct {
	Time   time.Time         `json:"time"`
	Alert  string            `json:"alert"`
	Labels map[string]string `json:"labels"`
	State  string            `json:"state"`
	Value  float64           `json:"value"`
}

func (w *watch) evaluate(ctx context.Context, now time.Time) error {
	for _, rule := range w.alerts {
		if _, err := rule.Eval(ctx, 0, now, w.query, nil, 0); err != nil {
			return fmt.Errorf("%s: %w", rule.Name(), err)
		}
		var failed error
		rule.ForEachActiveAlert(func(a *rules.Alert) { // the engine includes alerts that have just ended
			key, state := rule.Name()+a.Labels.String(), a.State.String()
			was, active := w.states[key]
			if !active {
				was = rules.StateInactive.String()
			}
			if w.states[key] = state; a.State == rules.StateInactive {
				delete(w.states, key)
			}
			if state != was {
				failed = errors.Join(failed, w.out.Encode(change{now.UTC(), rule.Name(), a.Labels.Map(), state, a.Value}))
			}
		})
		if failed != nil {
			return failed
		}
		w.gone(rule, now)
	}
	return nil
}

// gone reports the pending alerts that became inactive. The rule engine forgets a pending alert at once, so evaluate
// does not see this change.
func (w *watch) gone(rule *rules.AlertingRule, now time.Time) {
	active := map[string]bool{}
	rule.ForEachActiveAlert(func(a *rules.Alert) { active[rule.Name()+a.Labels.String()] = true })
	for key := range w.states {
		if len(key) > len(rule.Name()) && key[:len(rule.Name())+1] == rule.Name()+"{" && !active[key] {
			delete(w.states, key)
			_ = w.out.Encode(change{Time: now.UTC(), Alert: rule.Name(), State: rules.StateInactive.String()})
		}
	}
}
