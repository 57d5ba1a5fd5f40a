package drill

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/run/restore"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/copylog"
	"github.com/jobledger/jobledger/store/open"
)

// Config says what to test.
type Config struct {
	Place    copylog.Place
	Manifest string // name of an earlier manifest (list of the copy's objects); empty for the newest, MANIFEST
	// an empty or new directory, in which the log is restored; empty for the system's directory for temporary files
	Dir   string
	Apart []Apart

	Decisions int   // least number of newest decisions to replay; 0 for all
	Jobs      int   // number of Jobs to explain
	Live      *Live // the log from which the copy was made; nil to compare with none

	By      string // who runs the drill; empty for the process's user and host
	Version string // version of this program

	Clock func() time.Time // nil for this machine's clock
	// Tell is called from time to time with the progress of a check; may be nil.
	Tell func(check string, done, total uint64)
}

// The names of the checks, in order.
const (
	checkManifest  = "Manifest"
	checkRestore   = "Restore"
	checkVerify    = "Records and chain"
	checkDecisions = "Decisions"
	checkStates    = "Lists of Jobs"
	checkAnswers   = "Answers"
	checkRemoved   = "Removed"
)

// running is the state of one drill (a test restore): the directory, the restored log, and the report so far.
type running struct {
	*Config
	report *Report
	space  *space
	plan   *restore.Plan
	log    store.Archive
	damage store.Damage

	unfounded bool // a record refers to an earlier record that is missing, so checks that fold records are skipped
}

// Run tests a copy by restoring it. The results of the checks, also of failed ones, are in the report. An error means
// that the test could not be made: a UsageError, or ctx's error.
func Run(ctx context.Context, config *Config) (*Report, error) {
	c := *config
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Tell == nil {
		c.Tell = func(string, uint64, uint64) {}
	}
	if c.By == "" {
		c.By = whoRuns()
	}
	s, err := newSpace(c.Dir, c.Apart)
	if err != nil {
		return nil, err
	}
	r := &running{Config: &c, space: s, report: &Report{
		By: c.By, Version: c.Version, Began: c.Clock().UTC(), Copy: Copy{Place: c.Place.String()}, Jobs: []Job{},
	}}
	defer func() {
		if r.space != nil { // the directory still exists only if a check panicked
			_ = r.space.remove()
		}
	}()
	err = r.checks(ctx)
	if ctx.Err() != nil {
		err = ctx.Err() // if ctx has ended, failed checks say nothing about the copy
	}
	removed := r.check(checkRemoved, func() (Check, error) {
		r.space = nil
		if err := s.remove(); err != nil {
			return Check{}, err
		}
		return Check{Text: s.dir + " and all in it"}, nil
	})
	if err != nil {
		return nil, errors.Join(err, s.gone())
	}
	r.report.Passed = removed && !slices.ContainsFunc(r.report.Checks, func(c Check) bool { return c.Outcome == DoesNot })
	r.report.Ended = c.Clock().UTC()
	r.report.Seconds = r.report.Ended.Sub(r.report.Began).Seconds()
	return r.report, nil
}

// gone returns an error if the directory of the drill still exists.
func (s *space) gone() error {
	if _, err := os.Lstat(s.dir); err == nil {
		return fmt.Errorf("%s could not be removed", s.dir)
	}
	return nil
}

// checks makes the checks in order. If a check fails that the following ones need, it marks those as not checked.
func (r *running) checks(ctx context.Context) error {
	steps := []struct {
		name  string
		needs bool // if this check fails, the later ones are not made
		run   func(context.Context) (Check, error)
	}{
		{checkManifest, true, r.manifest},
		{checkRestore, true, r.restore},
		{checkVerify, true, r.verify},
		{checkDecisions, false, r.decisions},
		{checkStates, false, r.states},
		{checkAnswers, false, r.answers},
	}
	defer func() {
		if r.log != nil {
			_ = r.log.Close() // an error says nothing: the log was opened only for reading
		}
	}()
	failed := ""
	for _, s := range steps {
		if failed != "" {
			r.report.Checks = append(r.report.Checks, Check{Name: s.name, Outcome: NotChecked,
				Text: fmt.Sprintf("as %q does not hold", failed)})
			continue
		}
		held := r.check(s.name, func() (Check, error) { return s.run(ctx) })
		if err := ctx.Err(); err != nil {
			return err
		}
		if !held && (s.needs || r.unfounded) {
			failed = s.name
		}
	}
	return nil
}

// check makes one check, adds its result to the report, and reports whether the next checks can go on. An error of run
// means that the check failed.
func (r *running) check(name string, run func() (Check, error)) bool {
	began := r.Clock()
	c, err := run()
	c.Name, c.Seconds = name, r.Clock().Sub(began).Seconds()
	c.Details = told(c.Details)
	switch {
	case err != nil:
		c.Outcome, c.Text = DoesNot, words.Clean(err.Error())
	case c.Outcome == "":
		c.Outcome = Holds
	}
	r.report.Checks = append(r.report.Checks, c)
	return c.Outcome != DoesNot
}

func (r *running) manifest(ctx context.Context) (Check, error) {
	plan, err := restore.Make(ctx, &restore.Config{
		Place: r.Place, Manifest: r.Manifest, Dir: r.space.log(), WithoutKey: true,
		Tell: func(_ string, done, total int64) { r.Tell("restore", uint64(max(done, 0)), uint64(max(total, 0))) },
	})
	if err != nil {
		return Check{}, err
	}
	r.plan = plan
	m := plan.Copy
	r.report.Copy = Copy{
		Place: r.Place.String(), LogID: m.Identity.LogID, Epoch: m.Identity.Epoch, Head: uint64(m.Head.Sequence),
		Hash:   m.Head.Hash.String(),
		Newest: m.Head.Time.Go().UTC(), Written: m.Written.Go().UTC(), Writer: m.Writer, Bytes: plan.Bytes,
	}
	c := Check{Text: fmt.Sprintf("log %s ends with record %d, in %s and %s", m.Identity, m.Head.Sequence,
		words.Count(len(m.Files), "sealed file"),
		words.Count(len(m.Segments()), "segment"))}
	for _, h := range m.Holes {
		c.Details = append(c.Details, fmt.Sprintf("the copy does not have records %d to %d: they were gone before they could be copied", h.From, h.Through))
	}
	return c, nil
}

func (r *running) restore(ctx context.Context) (Check, error) {
	result, err := r.plan.Run(ctx)
	if err != nil {
		return Check{}, err
	}
	m := r.plan.Copy
	r.report.Copy.First = uint64(result.First)
	if result.Head != m.Head || result.Identity != m.Identity {
		return Check{}, fmt.Errorf("the log that was restored is %s and ends with record %d, hash %s; the manifest says %s, record %d, hash %s", result.Identity,
			result.Head.Sequence, result.Head.Hash, m.Identity, m.Head.Sequence, m.Head.Hash)
	}
	return Check{
		Text: fmt.Sprintf("%d bytes came; each object has its SHA-256, and records %d to %d lead to the head of the manifest", r.plan.Bytes, result.First,
			result.Head.Sequence),
		Details: result.Notes,
	}, nil
}

func (r *running) verify(ctx context.Context) (Check, error) {
	dir, m := r.space.log(), r.plan.Copy
	report, err := open.Verify(ctx, dir, func(done, total int64) {
		r.Tell("verify", uint64(done), uint64(max(total, 0)))
	}, m.Head)
	if err != nil {
		c := Check{Outcome: DoesNot, Text: words.Clean(err.Error())}
		for _, damage := range report.Damage {
			c.Details = append(c.Details, words.Clean(damage.Error()))
		}
		return c, nil
	}
	if report.Head.Sequence != m.Head.Sequence || report.Head.Hash != m.Head.Hash || report.Identity != m.Identity {
		return Check{}, fmt.Errorf("log %s ends with record %d, hash %s; the manifest says %s, record %d, hash %s",
			report.Identity, report.Head.Sequence,
			report.Head.Hash, m.Identity, m.Head.Sequence, m.Head.Hash)
	}
	if r.log, err = open.Archive(dir); err != nil {
		return Check{}, err
	}
	if err := r.log.Readable(events.ReaderVersion{Fold: projector.FoldVersion}); err != nil {
		return Check{}, err
	}
	return Check{Text: fmt.Sprintf("%d records, head %d %s, as the manifest says", report.Records, report.Head.Sequence,
		report.Head.Hash), Details: report.Notes}, nil
}

// states compares the restored lists of Jobs with lists that it makes from the records of each file.
func (r *running) states(ctx context.Context) (Check, error) {
	checked, err := joblist.Check(ctx, joblist.Config{Log: r.log, Files: store.FilesOf(r.log), Dir: r.space.log()})
	if err != nil {
		return Check{}, err
	}
	c := Check{Text: fmt.Sprintf("%s of lists are what a fold of the records gives", words.Count(checked.Rows, "row")),
		Details: checked.Notes}
	if checked.Rows == 0 && len(checked.Wrong) == 0 {
		c.Outcome, c.Text = NotChecked, "the copy has no list of Jobs that could be compared; they are made again from the records"
	}
	for _, wrong := range checked.Wrong {
		c.Outcome, c.Text = DoesNot, "lists of Jobs are not what a fold of the records gives"
		c.Details = append(c.Details, words.Clean(wrong.Error()))
	}
	return c, nil
}

// whoRuns returns the names of the user and the host of this process.
func whoRuns() string {
	name := fmt.Sprintf("user %d", os.Getuid())
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		return name
	}
	return name + " at " + host
}
