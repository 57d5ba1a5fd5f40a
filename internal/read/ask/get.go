package ask

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
)

// State is the answer of Get: the state of one Job or CronJob. The other of the two fields is nil. Its JSON is that of
// the field that is set.
type State struct {
	Job     *history.Job
	CronJob *history.CronJob
}

// MarshalJSON returns the JSON of the Job or the CronJob alone.
func (s State) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	var err error
	if s.CronJob != nil {
		err = e.Encode(s.CronJob)
	} else {
		err = e.Encode(s.Job)
	}
	return b.Bytes(), err
}

// UnmarshalJSON reads the JSON of a Job or a CronJob. Only that of a Job has the field "records".
func (s *State) UnmarshalJSON(text []byte) error {
	var has struct {
		Records json.RawMessage `json:"records"`
	}
	if err := json.Unmarshal(text, &has); err != nil {
		return err
	}
	if has.Records == nil {
		s.CronJob = &history.CronJob{}
		return json.Unmarshal(text, s.CronJob)
	}
	s.Job = &history.Job{}
	return json.Unmarshal(text, s.Job)
}

// GetParams are the parameters of Get: an object, and --at, the point of the log as of which the answer is.
type GetParams struct {
	object
	at Point
}

func (p *GetParams) bind(fs *pflag.FlagSet) {
	p.object.bind(fs)
	p.at.Bind(fs, "the state")
}

func (p *GetParams) read(args []string) error {
	if len(args) == 0 {
		return which.Wrong("say what to get: job/NAME, or cronjob/NAME")
	}
	if err := p.object.read(args); err != nil {
		return err
	}
	if p.Name == "" {
		return which.Wrong("%q has no name: write %s/NAME", args[0], args[0])
	}
	return p.at.Read(p.Zone)
}

// Get is the question for the state of one Job or CronJob, now or at a point in the past.
var Get = &Question[GetParams, State]{
	name: "get", about: "Show the state of a Job or a CronJob, now or then", takes: AnObject, folds: true,
	new: func() (*GetParams, parameters) {
		p := &GetParams{}
		return p, p
	},
	ask: func(ctx context.Context, src Source, p *GetParams) (*State, error) {
		var err error
		if p.Object, p.place, err = src.finder().Resolve(ctx, p.place, p.Object); err != nil {
			return nil, err
		}
		at, err := p.at.In(ctx, src)
		if err != nil {
			return nil, err
		}
		state := &State{}
		if p.Kind == which.CronJob {
			state.CronJob, err = p.cronJob(ctx, src, at)
		} else {
			state.Job, err = p.job(ctx, src, at)
		}
		switch {
		case errors.Is(err, history.ErrNoJob) || errors.Is(err, history.ErrNoCronJob):
			return nil, src.NothingAt(ctx, p.Object, &p.at)
		case state.Job == nil && state.CronJob == nil:
			return nil, err
		}
		if p.at.Given() {
			src.asOf(state.AsOf())
		}
		return state, err // if err is damage of the log, state is as of the last record before the damage
	},
}

// job returns the state of a Job as of the point at. If several Jobs had the name, it takes the newest that existed at
// this point.
func (p *GetParams) job(ctx context.Context, src Source, at history.Point) (*history.Job, error) {
	streams, err := src.finder().Jobs(ctx, p.place, p.Object)
	if err != nil {
		return nil, err
	}
	for i, s := range streams {
		job, err := history.JobAt(ctx, src.Source, s, at)
		if errors.Is(err, history.ErrNoJob) && i+1 < len(streams) {
			continue
		}
		if err == nil {
			src.finder().NoteOlder(streams[i+1:])
		}
		if job.UID == "" {
			return nil, err
		}
		return &job, err
	}
	return nil, history.ErrNoJob
}

// cronJob returns the state of a CronJob as of the point at. If several CronJobs had the name, it takes the newest that
// existed at this point.
func (p *GetParams) cronJob(ctx context.Context, src Source, at history.Point) (*history.CronJob, error) {
	streams, err := src.finder().CronJobs(ctx, p.place, p.Name)
	if err != nil {
		return nil, err
	}
	s, job, err := src.finder().LifeAt(ctx, streams, p.Name, at)
	if err == nil {
		src.finder().NoteLives(ctx, s, job.Namespace, job.Name)
	}
	if job.UID == "" {
		return nil, err
	}
	return &job, err
}

// Stream returns the stream of the Job or CronJob: the records about it, by its UID.
func (s *State) Stream() events.Stream {
	if s.CronJob != nil {
		return events.Stream{Kind: events.StreamCronJob, ID: s.CronJob.UID}
	}
	return events.Stream{Kind: events.StreamJob, ID: s.Job.UID}
}

// InZone reports whether the object is a CronJob whose time zone is not UTC.
func (s *State) InZone() bool {
	return s.CronJob != nil && s.CronJob.Zone != "" && s.CronJob.Zone != "UTC"
}

// AsOf returns the record as of which the state is, with its time.
func (s *State) AsOf() history.Place {
	if s.CronJob != nil {
		return s.CronJob.AsOf
	}
	return s.Job.AsOf
}

// Unplaced returns a copy without the fields that change with every new record of the log. A caller compares two such
// copies, to see whether the object itself changed.
func (s *State) Unplaced() *State {
	if s.CronJob != nil {
		c := *s.CronJob
		c.AsOf, c.Clock, c.LastRecord = history.Place{}, "", 0
		return &State{CronJob: &c}
	}
	j := *s.Job
	j.AsOf, j.Clock, j.LastRecord = history.Place{}, "", 0
	return &State{Job: &j}
}
